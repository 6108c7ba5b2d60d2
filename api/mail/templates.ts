// The templates of the server's messages. The operator's files replace them: <data_dir>/mail/<kind>.subject.txt, .txt, .html.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../storage/sql/error-code.ts';
import type { MessageContent, MessageKind, ServerMessage } from './message.ts';

/** The parts of a message, with `{{name}}` where a value goes. */
interface Template {
  subject: string;
  text: string;
  html: string;
}

const templates: Readonly<Record<MessageKind, Template>> = {
  'verify-email': template('Confirm your email address', [
    'To confirm that {{account}} is your email address, enter this text where you have registered:',
    'It works once, for {{minutes}} minutes. If you have not registered there, ignore this mail.',
  ]),
  'password-reset': template('Set a new password', [
    'Somebody, hopefully you, wants to set a new password. To do so, enter this text:',
    'It works once, for {{minutes}} minutes. If it was not you, ignore this mail: your password stays.',
  ]),
  'password-changed': notice('Your password was changed', [
    'The password of your account was changed at {{time}}. All other sessions have ended.',
    'If you did not change it, set a new one by mail, and contact the people who run the service.',
  ]),
  'email-change': template('Confirm your new email address', [
    'To use this email address for the account of {{account}} from now on, enter this text there:',
    'It works once, for {{minutes}} minutes. If you did not ask for it, ignore this mail.',
  ]),
  'email-changed': notice('Your email address was changed', [
    'The email address of your account was changed at {{time}}. This address is no longer used.',
    'If you did not change it, contact the people who run the service.',
  ]),
  invite: template('You are invited', [
    'You are invited to {{workspace}}. To accept, choose a password there and enter this text:',
    'It works once, until {{expires}}. If you do not want to join, ignore this mail.',
  ]),
  otp: template('Your code to log in', [
    'To log in, enter this code:',
    'It works once, for {{minutes}} minutes. If you did not ask for it, ignore this mail.',
  ]),
};

/** A template file that exists and cannot be read. The error names the file and nothing of the mail. */
export class UnreadableTemplate extends Error {
  readonly code: string;

  constructor(path: string, cause: unknown) {
    const code = errorCode(cause);
    super(`cannot read ${path}: ${code}`, { cause });
    this.code = code;
  }
}

/** Builds a template of ASCII and short lines. Such text is sent unencoded, so the raw mail shows the secret. */
function template(subject: string, [before, after]: [string, string]): Template {
  return {
    subject,
    text: [before, '', '{{secret}}', '', after, ''].join('\n'),
    html: `<!doctype html>\n<p>${before}</p>\n<pre>\n{{secret}}\n</pre>\n<p>${after}</p>\n`,
  };
}

/** Builds a template without a secret. */
function notice(subject: string, lines: [string, string]): Template {
  return {
    subject,
    text: [...lines, ''].join('\n'),
    html: ['<!doctype html>', ...lines.map((line) => `<p>${line}</p>`), ''].join('\n'),
  };
}

/**
 * Fills in the template of a message. A file in `folder`, the operator's, replaces a part of it. Throws
 * `UnreadableTemplate`.
 */
export async function render(
  { message, writtenAt }: { message: ServerMessage; writtenAt: Date },
  folder: string,
): Promise<MessageContent> {
  const defaults = templates[message.kind];
  const [subject, text, html] = await Promise.all([
    readOr(join(folder, `${message.kind}.subject.txt`), defaults.subject),
    readOr(join(folder, `${message.kind}.txt`), defaults.text),
    readOr(join(folder, `${message.kind}.html`), defaults.html),
  ]);
  const values: Record<string, string> = {
    secret: message.secret ?? '',
    time: writtenAt.toISOString(),
    expires: new Date(writtenAt.getTime() + message.lifeSeconds * 1_000).toISOString(),
    minutes: String(Math.max(1, Math.round(message.lifeSeconds / 60))),
    email: message.to,
    account: message.account ?? message.to,
    workspace: message.workspace,
  };
  return {
    subject: fill(subject, values).replaceAll(/\s+/g, ' ').trim(),
    text: fill(text, values),
    html: fill(html, values, escapeHtml),
  };
}

async function readOr(path: string, otherwise: string): Promise<string> {
  try {
    // Some editors begin a file with a byte order mark.
    return (await readFile(path, 'utf8')).replace(/^\uFEFF/, '');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return otherwise;
    throw new UnreadableTemplate(path, error);
  }
}

/** Replaces the names of values. A `{{name}}` that names none stays. */
function fill(
  text: string,
  values: Readonly<Record<string, string>>,
  escape: (value: string) => string = (value) => value,
): string {
  return text.replaceAll(
    /\{\{([a-z]+)\}\}/g,
    (whole, name: string) => Object.hasOwn(values, name) ? escape(values[name] ?? '') : whole,
  );
}

function escapeHtml(value: string): string {
  return value.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
