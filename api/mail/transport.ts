// How mail leaves: as a file in the outbox, or by SMTP.
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import nodemailer from 'nodemailer';
import type { Config } from '../../supervisor/protocol.ts';
import type { Rendered } from './templates.ts';

/** One mail. */
export interface Message extends Rendered {
  /** A v7 UUID: names the file, and is the Message-ID. */
  id: string;
  to: string;
  date: Date;
}

/** Sends mails, one a call. Throws what went wrong. */
export interface Transport {
  send(message: Message): Promise<void>;
  close(): void;
}

/** An SMTP server that says nothing is given up after this long. */
const patienceMilliseconds = 10_000;

/** The transport that the configuration names. */
export function createTransport({ mail, data_dir }: Pick<Config, 'mail' | 'data_dir'>): Transport {
  return mail.transport === 'smtp'
    ? smtpTransport(mail.from, mail.smtp.url)
    : outboxTransport(mail.from, join(data_dir, 'outbox'));
}

function smtpTransport(from: string, url: string): Transport {
  const transport = nodemailer.createTransport({
    url,
    connectionTimeout: patienceMilliseconds,
    greetingTimeout: patienceMilliseconds,
    socketTimeout: patienceMilliseconds,
    dnsTimeout: patienceMilliseconds,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    send: async (message) => {
      await transport.sendMail(envelopeOf(from, message));
    },
    close: () => transport.close(),
  };
}

/** Files appear whole, and the newest is the last by name. */
function outboxTransport(from: string, folder: string): Transport {
  const composer = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  return {
    send: async (message) => {
      const { message: content } = await composer.sendMail(envelopeOf(from, message));
      if (!Buffer.isBuffer(content)) throw new Error('the mail was not composed');
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const draft = join(folder, `.${message.id}.tmp`);
      await writeFile(draft, content, { mode: 0o600 });
      await rename(draft, join(folder, `${message.id}.eml`));
    },
    close: () => composer.close(),
  };
}

function envelopeOf(from: string, { id, to, date, subject, text, html }: Message) {
  const domain = /@([^\s>]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';
  // As an object, the address is one address whatever characters it holds.
  return { from, to: { name: '', address: to }, date, subject, text, html, messageId: `<${id}@${domain}>` };
}
