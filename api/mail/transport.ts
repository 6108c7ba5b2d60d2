// How mail leaves: as a file in the outbox, or by SMTP.
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { domainToASCII } from 'node:url';
import type { Transporter } from 'nodemailer';
import type { Config } from '../../supervisor/protocol.ts';
import type { MessageContent } from './message.ts';

/** One mail. */
export interface OutgoingMail extends MessageContent {
  /** A v7 UUID: names the file, and is the Message-ID. */
  id: string;
  to: string;
  date: Date;
}

/** Sends mails, one a call. Throws what went wrong. */
export interface Transport {
  send(message: OutgoingMail): Promise<void>;
  close(): void;
}

/** An SMTP server that does not even greet is given up after this long. */
const connectTimeoutMs = 10_000;

/**
 * The transport that the configuration names. An SMTP server that never says all it has to say is given up after
 * `attemptMilliseconds`, its connection closed.
 */
export function createTransport(
  { mail, data_dir }: Pick<Config, 'mail' | 'data_dir'>,
  { attemptMilliseconds }: { attemptMilliseconds: number },
): Transport {
  const { from, transport, smtp } = mail;
  return transport === 'smtp'
    ? throughTransporter(
      () => smtpTransporter(smtp.url, attemptMilliseconds),
      async (transporter, message) => {
        const signal = AbortSignal.timeout(attemptMilliseconds);
        await transporter.sendMail({ ...envelopeOf(from, message), signal });
      },
    )
    : throughTransporter(
      composer,
      (transporter, message) =>
        keepInOutbox(transporter, { from, message, folder: join(data_dir, 'outbox') }),
    );
}

/** Made with the first mail: nodemailer is large, and many servers send none. */
function throughTransporter(
  make: () => Promise<Transporter>,
  send: (transporter: Transporter, message: OutgoingMail) => Promise<void>,
): Transport {
  let made: Promise<Transporter> | undefined;
  return {
    send: async (message) => await send(await (made ??= make()), message),
    close: () => void made?.then((transporter) => transporter.close()),
  };
}

/**
 * Once a mail is handed over, a server may look at it for long before it says that it takes it. Whoever does not wait sends it
 * again, and it is taken each time: https://www.rfc-editor.org/rfc/rfc5321#section-4.5.3.2.6
 */
async function smtpTransporter(url: string, attemptMilliseconds: number): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url,
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: connectTimeoutMs,
    socketTimeout: attemptMilliseconds,
    dnsTimeout: connectTimeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

async function composer(): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  return createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
}

/** Files appear whole, and the newest is the last by name. */
async function keepInOutbox(
  composer: Transporter,
  { from, message, folder }: { from: string; message: OutgoingMail; folder: string },
): Promise<void> {
  const { message: content } = await composer.sendMail(envelopeOf(from, message));
  if (!Buffer.isBuffer(content)) throw new Error('the mail was not composed');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `.${message.id}.tmp`);
  await writeFile(draft, content, { mode: 0o600 });
  await rename(draft, join(folder, `${message.id}.eml`));
}

function envelopeOf(from: string, { id, to, date, subject, text, html }: OutgoingMail) {
  const domain = /@([^\s>]+)>?\s*$/.exec(from)?.[1] ?? '';
  // As an object, the address is one address whatever characters it holds.
  return {
    from,
    to: { name: '', address: to },
    date,
    subject,
    text,
    html,
    messageId: `<${id}@${domainToASCII(domain) || 'localhost'}>`,
  };
}
