// Sends the mail that waits in the queue, in the background; what fails is tried again, also after a restart.
import { setTimeout as pause } from 'node:timers/promises';
import { join } from 'node:path';
import { StorageError } from '../../storage/errors.ts';
import {
  type ClaimedMail,
  claimMail,
  insertAppMail,
  insertMail,
  type MailClaim,
  type MailQueueLimits,
  postponeMail,
  removeMail,
} from '../../storage/control/mail-queue.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import { logFailure } from '../logging/events.ts';
import type { AppMessage, MailQueue, MessageContent, ServerMessage } from './message.ts';
import { render, UnreadableTemplate } from './templates.ts';
import { createTransport, type Transport } from './transport.ts';

type MailerDeps = Pick<Deps, 'databases' | 'secrets' | 'now' | 'newId' | 'observe'> & {
  config: Pick<Deps['config'], 'mail' | 'data_dir'>;
};

/** Mails under way at once: a provider that hangs holds up no more than these. */
const maxWorkers = 16;
/** Those of one workspace: a provider that asks servers of its recipients, and waits for them, holds up nobody else's. */
const maxWorkersPerWorkspace = 4;
/** What waits of the hooks of one workspace while the provider puts it off, for a day at most. */
export const waitingLimits: MailQueueLimits = { mails: 5_000, bytes: 64 * 1024 * 1024 };
const pollMs = 2_000;
/** How long the sending of one mail may take. */
const attemptTimeoutMs = 45_000;
/** Longer than any attempt takes: afterwards whoever sent it is taken for dead. */
const leaseMs = 60_000;
const firstRetryMs = 2_000;
const maxRetryMs = 600_000;
const removeRetryMs = 500;
const closeTimeoutMs = 2_000;

/** The mail of one process. */
export class Mailer implements MailQueue {
  readonly #deps: MailerDeps;
  readonly #transport: Transport;
  readonly #folder: string;
  readonly #busy = new Set<Promise<void>>();
  readonly #underWay = new Set<ClaimedMail>();
  #lastClaim: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(deps: MailerDeps) {
    this.#deps = deps;
    this.#transport = createTransport(deps.config, { attemptMilliseconds: attemptTimeoutMs });
    this.#folder = join(deps.config.data_dir, 'mail');
  }

  /** Begins to look for mail that is due. */
  start(): void {
    this.#timer = setInterval(() => this.#lendHand(), pollMs);
    this.#timer.unref();
    this.#lendHand();
  }

  async enqueue(letter: ServerMessage | AppMessage): Promise<void> {
    const { databases: { control }, secrets, newId, now } = this.#deps;
    const id = newId();
    const created_at = now();
    const expires_at = new Date(created_at.getTime() + letter.lifeSeconds * 1_000);
    const sealed = secrets.seal('mail', id, Buffer.from(JSON.stringify(letter)));
    const mail = { id, workspace: letter.workspace, sealed, created_at, expires_at };
    if (!('content' in letter)) await control.run((sql) => insertMail(sql, mail));
    else if (!await control.run((sql) => insertAppMail(sql, mail, waitingLimits))) {
      const { mails, bytes } = waitingLimits;
      const bounds = `${mails} mails or ${bytes / 1024 / 1024} MiB`;
      fail('too_many_requests', `of the hooks of a workspace no more than ${bounds} may wait to be sent`);
    }
    this.#lendHand();
  }

  /** Lets what is under way finish for a moment; the rest waits in the queue for the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    const patience = new AbortController();
    const waited = pause(closeTimeoutMs, undefined, { signal: patience.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.#busy), waited]);
    patience.abort();
    this.#transport.close();
  }

  /** One more sends mail until none is due. */
  #lendHand(): void {
    if (this.#closed || this.#busy.size >= maxWorkers) return;
    const work = this.#work()
      .catch(logFailure(this.#deps, 'send mail'))
      .finally(() => this.#busy.delete(work));
    this.#busy.add(work);
  }

  async #work(): Promise<void> {
    while (!this.#closed) {
      const mail = await this.#claim();
      if (mail === undefined) return;
      await this.#deliver(mail).finally(() => this.#underWay.delete(mail));
    }
  }

  /** One claims after the other, and so knows whose mails are under way. */
  #claim(): Promise<ClaimedMail | undefined> {
    const { control } = this.#deps.databases;
    const claimed = this.#lastClaim.then(async () => {
      const mail = await control.run((sql) => claimMail(sql, this.#turn()));
      if (mail !== undefined) this.#underWay.add(mail);
      return mail;
    });
    this.#lastClaim = claimed.catch(() => 'told to who claims');
    return claimed;
  }

  #turn(): MailClaim {
    const now = this.#deps.now();
    const underWay = [...this.#underWay];
    const ofEach = Map.groupBy(underWay, ({ workspace }) => workspace);
    return {
      now,
      // A clock that is put right by some seconds changes nothing.
      last: new Date(now.getTime() + maxRetryMs + leaseMs),
      leaseEnds: new Date(now.getTime() + leaseMs),
      served: [...ofEach.keys()],
      full: [...ofEach].filter(([, { length }]) => length >= maxWorkersPerWorkspace).map(([workspace]) =>
        workspace
      ),
      underWay: underWay.map(({ id }) => id),
    };
  }

  /** Undefined when nobody is to get it. */
  async #contentOf(letter: ServerMessage | AppMessage, writtenAt: Date): Promise<MessageContent | undefined> {
    if ('content' in letter) return letter.content;
    return letter.discard ? undefined : await render({ letter, writtenAt }, this.#folder);
  }

  async #deliver(mail: ClaimedMail): Promise<void> {
    const { databases: { control }, observe, now } = this.#deps;
    const { id, attempts, expires_at } = mail;
    try {
      await this.#send(mail);
    } catch (error) {
      const wait = Math.min(maxRetryMs, firstRetryMs * 2 ** (attempts - 1));
      const again = new Date(now().getTime() + wait);
      const isFinal = isRefusal(error) || again >= expires_at;
      observe({ type: 'mail_failed', mail: id, attempts, error: reasonOf(error), gives_up: isFinal });
      if (!isFinal) return await control.run((sql) => postponeMail(sql, id, again));
    }
    await this.#strike(id);
  }

  async #send({ id, sealed, created_at, expires_at }: ClaimedMail): Promise<void> {
    const { secrets, now } = this.#deps;
    const letter: ServerMessage | AppMessage = JSON.parse(secrets.open('mail', id, sealed).toString('utf8'));
    const content = await this.#contentOf(letter, created_at);
    if (content === undefined || expires_at <= now()) return;
    await this.#transport.send({ ...content, id, to: letter.to, date: created_at });
  }

  /** Tries until it could: a mail that is done with and stays in the queue is sent once more. */
  async #strike(id: string): Promise<void> {
    for (;;) {
      try {
        return await this.#deps.databases.control.run((sql) => removeMail(sql, id));
      } catch (error) {
        if (!(error instanceof StorageError) || this.#closed) throw error;
        await pause(removeRetryMs);
      }
    }
  }
}

/** The commands that are about one mail; a reply to any other is about us, and may be mended by the operator. */
const ofTheMail: readonly unknown[] = ['RCPT TO', 'DATA'];

/** There a reply of the 500s is the mail server's last word: https://www.rfc-editor.org/rfc/rfc5321#section-4.2.1 */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'responseCode' in error && Number(error.responseCode) >= 500 &&
    'command' in error && ofTheMail.includes(error.command);
}

/** Codes only: the server's own words would carry the address into the log. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error instanceof UnreadableTemplate) return error.message;
  const code = 'code' in error ? String(error.code) : error.name;
  return 'responseCode' in error ? `${code} ${String(error.responseCode)}` : code;
}
