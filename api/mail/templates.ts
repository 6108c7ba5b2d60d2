// The texts of the letters. Files of the operator replace them: <data_dir>/mail/<kind>.subject.txt, .txt and .html.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../storage/sql/error-code.ts';
import type { MessageContent, MessageKind, ServerMessage } from './message.ts';

/** A letter's parts, with `{{name}}` where a value goes. */
interface Template {
  subject: string;
  text: string;
  html: string;
}

const changed = [
  'The email address of your account was changed at {{time}}. This address is no longer used.',
  'If you did not change it, contact the people who run the service.',
];

const templates: Readonly<Record<MessageKind, Template>> = {
  'verify-email': template('Confirm your email address', [
    'To confirm that this is your email address, enter this text:',
    'It works once, for {{minutes}} minutes. If you did not ask for it, ignore this mail.',
  ]),
  'password-reset': template('Set a new password', [
    'Somebody, hopefully you, wants to set a new password. To do so, enter this text:',
    'It works once, for {{minutes}} minutes. If it was not you, ignore this mail: your password stays.',
  ]),
  'email-change': template('Confirm your new email address', [
    'To use this email address from now on, enter this text:',
    'It works once, for {{minutes}} minutes. If you did not ask for it, ignore this mail.',
  ]),
  'email-changed': {
    subject: 'Your email address was changed',
    text: [...changed, ''].join('\n'),
    html: ['<!doctype html>', ...changed.map((line) => `<p>${line}</p>`), ''].join('\n'),
  },
  otp: template('Your code to log in', [
    'To log in, enter this code:',
    'It works once, for {{minutes}} minutes. If you did not ask for it, ignore this mail.',
  ]),
};

/** A file of the operator's is there and cannot be read. The message names it, and nothing of the letter. */
export class UnreadableTemplate extends Error {
  constructor(path: string, cause: unknown) {
    super(`cannot read ${path}: ${errorCode(cause)}`, { cause });
  }
}

/** ASCII and short lines: such text travels as it is, so the secret's line can be read in the raw mail. */
function template(subject: string, [before, after]: [string, string]): Template {
  return {
    subject,
    text: [before, '', '{{secret}}', '', after, ''].join('\n'),
    html: ['<!doctype html>', `<p>${before}</p>`, '<pre>', '{{secret}}', '</pre>', `<p>${after}</p>`, '']
      .join(
        '\n',
      ),
  };
}

/**
 * Fills in the template of a letter. `folder` is the operator's; a file that is not there leaves the default. Throws
 * `UnreadableTemplate`.
 */
export async function render(
  { letter, writtenAt }: { letter: ServerMessage; writtenAt: Date },
  folder: string,
): Promise<MessageContent> {
  const known = templates[letter.kind];
  const [subject, text, html] = await Promise.all([
    readOr(join(folder, `${letter.kind}.subject.txt`), known.subject),
    readOr(join(folder, `${letter.kind}.txt`), known.text),
    readOr(join(folder, `${letter.kind}.html`), known.html),
  ]);
  const values: Record<string, string> = {
    secret: letter.secret ?? '',
    time: writtenAt.toISOString(),
    minutes: String(Math.max(1, Math.round(letter.lifeSeconds / 60))),
    email: letter.to,
    workspace: letter.workspace,
  };
  return {
    subject: fill(subject, values).replaceAll(/\s+/g, ' ').trim(),
    text: fill(text, values),
    html: fill(html, values, escapeHtml),
  };
}

async function readOr(path: string, otherwise: string): Promise<string> {
  try {
    // Some editors put a byte order mark before a text.
    return (await readFile(path, 'utf8')).replace(/^\uFEFF/, '');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return otherwise;
    throw new UnreadableTemplate(path, error);
  }
}

/** What names no value stays as it is. */
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
