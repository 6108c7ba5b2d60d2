// Sends the mail of the queue in the background, and retries what fails, also after a restart.
import { setTimeout as pause } from 'node:timers/promises';
import { join } from 'node:path';
import { StorageError } from '../../storage/errors.ts';
import {
  type ClaimedMail,
  claimMail,
  insertMail,
  type MailClaim,
  type MailQueueLimits,
  postponeMail,
  removeMail,
} from '../../storage/control/mail-queue.ts';
import { addMail } from '../../storage/control/usage.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import { logFailure } from '../logging/events.ts';
import { ignore } from '../logging/ignore.ts';
import { explainMailFailure, isRefusal } from './failure.ts';
import type { AppMessage, MailQueue, MessageContent, ServerMessage } from './message.ts';
import { render } from './templates.ts';
import { createTransport, type Transport } from './transport.ts';

type MailerDeps = Pick<Deps, 'databases' | 'secrets' | 'spentShares' | 'now' | 'newId' | 'observe'> & {
  config: Pick<Deps['config'], 'mail' | 'data_dir'>;
};

/** Mails that are sent at the same time. */
const maxWorkers = 16;
/** Of one workspace: a provider that waits for the servers of its recipients holds up no other workspace. */
const maxWorkersPerWorkspace = 4;
/** The mail of one workspace that may wait: of its hooks, each for a day at most, and again as much of the server's own. */
export const waitingLimits: MailQueueLimits = { mails: 5_000, bytes: 64 * 1024 * 1024 };
const pollMs = 2_000;
const attemptTimeoutMs = 45_000;
/** Longer than any attempt: a process that has not finished by then is taken for dead. */
const leaseMs = 60_000;
const firstRetryMs = 2_000;
const maxRetryMs = 600_000;
const removeRetryMs = 500;
const closeTimeoutMs = 2_000;

/** The mail queue of one process, and the workers that send from it. */
export class Mailer implements MailQueue {
  readonly #deps: MailerDeps;
  readonly #transport: Transport;
  readonly #folder: string;
  readonly #workers = new Set<Promise<void>>();
  readonly #claimed = new Set<ClaimedMail>();
  #lastClaim: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(deps: MailerDeps) {
    this.#deps = deps;
    this.#transport = createTransport(deps.config, { attemptTimeoutMs });
    this.#folder = join(deps.config.data_dir, 'mail');
  }

  /** Begins to poll the queue for mail that is due. */
  start(): void {
    this.#timer = setInterval(() => this.#startWorker(), pollMs);
    this.#timer.unref();
    this.#startWorker();
  }

  async enqueue(message: ServerMessage | AppMessage): Promise<void> {
    const { databases: { control }, secrets, spentShares, newId, now } = this.#deps;
    const { workspace } = message;
    const id = newId();
    const created_at = now();
    const expires_at = new Date(created_at.getTime() + message.lifeSeconds * 1_000);
    const sealed = secrets.seal('mail', id, Buffer.from(JSON.stringify(message)));
    const of_app = 'content' in message;
    const mail = { id, workspace, of_app, sealed, created_at, expires_at };
    if (await control.run((sql) => insertMail(sql, mail, waitingLimits))) return this.#startWorker();
    spentShares.note({ share: 'waiting mail', workspace });
    const { mails, bytes } = waitingLimits;
    const bounds = `${mails} mails or ${bytes / 1024 / 1024} MiB`;
    // A caller who asks for a mail of the server's own learns nothing of whether one goes out.
    if (of_app) {
      fail('too_many_requests', `of the hooks of a workspace no more than ${bounds} may wait to be sent`);
    }
  }

  /** Stops after the mails that are being sent, or two seconds. The rest stays in the queue for the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    const timer = new AbortController();
    const late = pause(closeTimeoutMs, undefined, { signal: timer.signal }).catch(ignore('aborted below'));
    await Promise.race([Promise.all(this.#workers), late]);
    timer.abort();
    this.#transport.close();
  }

  /** Starts a worker, which sends mail until none is due. */
  #startWorker(): void {
    if (this.#closed || this.#workers.size >= maxWorkers) return;
    const worker = this.#work()
      .catch(logFailure(this.#deps, 'send mail'))
      .finally(() => this.#workers.delete(worker));
    this.#workers.add(worker);
  }

  async #work(): Promise<void> {
    while (!this.#closed) {
      const mail = await this.#claim();
      if (mail === undefined) return;
      await this.#deliver(mail).finally(() => this.#claimed.delete(mail));
    }
  }

  /** Claims one after another, so that each knows the workspaces of the mails that are being sent. */
  #claim(): Promise<ClaimedMail | undefined> {
    const { control } = this.#deps.databases;
    const claimed = this.#lastClaim.then(async () => {
      const mail = await control.run((sql) => claimMail(sql, this.#nextClaim()));
      if (mail !== undefined) this.#claimed.add(mail);
      return mail;
    });
    this.#lastClaim = claimed.catch(ignore('the worker that claims gets the error'));
    return claimed;
  }

  #nextClaim(): MailClaim {
    const now = this.#deps.now();
    const claimed = [...this.#claimed];
    const byWorkspace = Map.groupBy(claimed, ({ workspace }) => workspace);
    const full = [...byWorkspace].filter(([, { length }]) => length >= maxWorkersPerWorkspace);
    return {
      now,
      // Later than any retry or lease, so that only a clock that was set back by more brings mail forward.
      last: new Date(now.getTime() + maxRetryMs + leaseMs),
      leaseEnds: new Date(now.getTime() + leaseMs),
      served: [...byWorkspace.keys()],
      full: full.map(([workspace]) => workspace),
      underWay: claimed.map(({ id }) => id),
    };
  }

  async #deliver(mail: ClaimedMail): Promise<void> {
    const { databases: { control }, config, observe, now } = this.#deps;
    const { id, workspace, attempts, expires_at } = mail;
    let isSent = false;
    try {
      isSent = await this.#send(mail);
    } catch (error) {
      const wait = Math.min(maxRetryMs, firstRetryMs * 2 ** (attempts - 1));
      const again = new Date(now().getTime() + wait);
      const isFinal = isRefusal(error) || again >= expires_at;
      const failure = explainMailFailure(error, config.mail);
      observe({ type: 'mail_failed', mail: id, attempts, ...failure, gives_up: isFinal });
      if (!isFinal) return await control.run((sql) => postponeMail(sql, id, again));
    }
    await this.#remove(id);
    if (isSent) await control.run((sql) => addMail(sql, workspace, now()));
  }

  /** Sends a mail; false for one that is not to be sent. */
  async #send({ id, workspace, sealed, created_at, expires_at }: ClaimedMail): Promise<boolean> {
    const { secrets, now } = this.#deps;
    const message: ServerMessage | AppMessage = JSON.parse(secrets.open('mail', id, sealed).toString('utf8'));
    const content = await this.#content(message, created_at);
    if (content === undefined || expires_at <= now()) return false;
    await this.#transport.send({ ...content, id, workspace, to: message.to, date: created_at });
    return true;
  }

  /** The content of a message; undefined when it is to be discarded. */
  async #content(message: ServerMessage | AppMessage, writtenAt: Date): Promise<MessageContent | undefined> {
    if ('content' in message) return message.content;
    return message.discard ? undefined : await render({ message, writtenAt }, this.#folder);
  }

  /** Retries until the mail is removed: one that stays in the queue would be sent again. */
  async #remove(id: string): Promise<void> {
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
