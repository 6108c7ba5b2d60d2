// The ways to send a mail: by SMTP, or as a file in the outbox.
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { domainToASCII } from 'node:url';
import type { Transporter } from 'nodemailer';
import type { Config } from '../../supervisor/protocol.ts';
import type { MessageContent } from './message.ts';
import { writeDownMail } from './outbox.ts';
import { asciiAddress } from '../../storage/sql/email-address.ts';

/** A mail as it is sent. */
export interface OutgoingMail extends MessageContent {
  /** A v7 UUID: names the file, and is the Message-ID. */
  id: string;
  /** The id of the workspace that it is about. */
  workspace: string;
  to: string;
  date: Date;
}

/** One way to send mails. */
export interface Transport {
  /** Sends one mail. Throws the error of the file system or of nodemailer. */
  send(mail: OutgoingMail): Promise<void>;
  close(): void;
}

/** For DNS, the connection and the greeting of the SMTP server, each. */
const connectTimeoutMs = 10_000;

/** Creates the transport that the configuration names. Over SMTP, a mail that takes longer than the timeout fails. */
export function createTransport(
  { mail, data_dir }: Pick<Config, 'mail' | 'data_dir'>,
  { attemptTimeoutMs }: { attemptTimeoutMs: number },
): Transport {
  const { from, transport, smtp } = mail;
  return transport === 'smtp'
    ? lazyTransport(
      () => createSmtpTransporter(smtp.url, attemptTimeoutMs),
      async (transporter, mail) => {
        const signal = AbortSignal.timeout(attemptTimeoutMs);
        await transporter.sendMail({ ...toNodemailer(from, mail), signal });
      },
    )
    : lazyTransport(
      createComposer,
      (composer, mail) => writeToOutbox(composer, { from, mail, folder: join(data_dir, 'outbox') }),
    );
}

/** Loads nodemailer with the first mail: it is large, and many servers send none. */
function lazyTransport(
  create: () => Promise<Transporter>,
  send: (transporter: Transporter, mail: OutgoingMail) => Promise<void>,
): Transport {
  let transporter: Promise<Transporter> | undefined;
  return {
    send: async (mail) => await send(await (transporter ??= create()), mail),
    close: () => void transporter?.then((created) => created.close()),
  };
}

/**
 * The socket timeout is that of the whole attempt. A server may take minutes to accept a mail that it has received in full,
 * and a client that gives up too early sends it twice: https://www.rfc-editor.org/rfc/rfc5321#section-4.5.3.2.6
 */
async function createSmtpTransporter(url: string, attemptTimeoutMs: number): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url,
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: connectTimeoutMs,
    socketTimeout: attemptTimeoutMs,
    dnsTimeout: connectTimeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Connects to an SMTP server and signs in. Throws the error of nodemailer. */
export async function verifySmtp(url: string): Promise<void> {
  const transporter = await createSmtpTransporter(url, connectTimeoutMs);
  try {
    await transporter.verify();
  } finally {
    transporter.close();
  }
}

async function createComposer(): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  return createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
}

/** Writes a draft and renames it, so that files appear whole. The newest is the last by name. */
async function writeToOutbox(
  composer: Transporter,
  { from, mail, folder }: { from: string; mail: OutgoingMail; folder: string },
): Promise<void> {
  const { message: content } = await composer.sendMail(toNodemailer(from, mail));
  if (!Buffer.isBuffer(content)) throw new Error('the mail was not composed');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `.${mail.id}.tmp`);
  await writeFile(draft, content, { mode: 0o600 });
  const { id, workspace, to, subject, text, html, date } = mail;
  await writeDownMail(folder, workspace, { id, to, subject, text, html, created_at: date });
  await rename(draft, join(folder, `${id}.eml`));
}

function toNodemailer(from: string, { id, to, date, subject, text, html }: OutgoingMail) {
  const domain = /@([^\s>]+)>?\s*$/.exec(from)?.[1] ?? '';
  // nodemailer would parse a string, in which a comma makes two addresses.
  return {
    from,
    to: { name: '', address: asciiAddress(to) },
    date,
    subject,
    text,
    html,
    messageId: `<${id}@${domainToASCII(domain) || 'localhost'}>`,
  };
}
