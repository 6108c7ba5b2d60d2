// Hashes and verifies passwords by argon2id, in worker threads behind a bounded queue.
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { FairQueue, type Refusal } from '../../../storage/concurrency/fair-queue.ts';
import { ApiError } from '../../errors.ts';
import { type PasswordJob, type PasswordResult, PasswordThreads } from './threads.ts';

/** The result of a check. A hash is outdated when it was made with other parameters than today's. */
export interface PasswordCheck {
  matches: boolean;
  isOutdated: boolean;
}

/** The limits of the threads and their queue. */
export interface PasswordLimits {
  threads: number;
  /** Jobs that may wait for a thread. */
  maxWaiting: number;
  /** For one job. */
  maxWaitMs: number;
  /** The time without a job after which the threads end. */
  idleMs: number;
  /** The time after which a caller is told that too many wait. */
  refusalMs: number;
}

/** The principals that passwords belong to. The queue is fair among owners. */
export type PasswordOwner = 'masters' | `admins of ${string}` | `users of ${string}`;

/** The client that a password comes from. The queue is fair among the clients of an owner. */
export interface PasswordClient {
  /** As failures are counted by it. */
  network: string;
  /** Those who have signed in before, and programs on the server's own machine, do not wait for all others. */
  turn: 'known' | 'loopback' | 'others';
}

/** OWASP's choice for argon2id: 19 MiB, 2 passes, 1 lane. */
const parameters = { memoryKib: 19_456, passes: 2, lanes: 1 } as const;
const prefix = `$argon2id$v=19$m=${parameters.memoryKib},t=${parameters.passes},p=${parameters.lanes}$`;
/** A hash that no password matches. A check against it takes as long as against a real one. */
const dummyHash = `${prefix}${'A'.repeat(22)}$${'A'.repeat(43)}`;

const noClient: PasswordClient = { network: '', turn: 'others' };

const defaultLimits: PasswordLimits = {
  threads: availableParallelism(),
  maxWaiting: 128,
  maxWaitMs: 10_000,
  idleMs: 5_000,
  refusalMs: 500,
};

/**
 * The time after which a slow lookup lets others go first. It usually takes a millisecond or two, so that only a slow tenant's
 * logins are delayed.
 */
const maxLookupMs = 50;

/** Hashes and verifies passwords. */
export class Passwords {
  readonly #threads: PasswordThreads;
  /** One more is admitted than there are threads: it is looked up while the others are hashed. */
  readonly #admissions: FairQueue;
  readonly #hashing: FairQueue;
  readonly #refusalMs: number;

  /** `isServerBusy` is true while this process has other requests to serve. */
  constructor(options: { isServerBusy?: () => boolean; limits?: Partial<PasswordLimits> } = {}) {
    const { isServerBusy = () => false } = options;
    const { threads, maxWaiting, maxWaitMs, idleMs, refusalMs } = { ...defaultLimits, ...options.limits };
    this.#threads = new PasswordThreads({ idleMs });
    this.#refusalMs = refusalMs;
    this.#admissions = new FairQueue({
      slots: threads + 1,
      maxWaiting: maxWaiting - 1,
      timeoutMs: maxWaitMs,
      refuse: refusalError,
    });
    // One core is left to other work. Low priority alone is not enough: with a hash on every core, a request waits for the
    // scheduler several times.
    const slots = () => isServerBusy() ? Math.max(1, threads - 1) : threads;
    this.#hashing = new FairQueue({ slots, refuse: refusalError });
  }

  /** Hashes a password to a PHC string. Throws `503 unavailable` when too many jobs wait. */
  async hash(owner: PasswordOwner, password: string, client = noClient): Promise<string> {
    const job: PasswordJob = { type: 'hash', password, salt: randomBytes(16), ...parameters };
    const result = await this.#perform(owner, client, () => job);
    if (result.type !== 'hashed') throw new Error('not the result of a hash');
    return result.hash;
  }

  /**
   * Replaces an outdated hash that a password has just matched. When too many jobs wait, that is left to the next login.
   * Throws the errors of `store`.
   */
  async renew(
    { owner, password, hash: from }: { owner: PasswordOwner; password: string; hash: string | null },
    store: (hashes: { from: string; to: string }) => Promise<void>,
  ): Promise<void> {
    if (from === null || !isOutdated(from)) return;
    const to = await this.hash(owner, password).catch(undefinedWhenBusy);
    if (to !== undefined) await store({ from, to });
  }

  /** Checks a password. Without a hash it never matches, and takes as long. Throws `503 unavailable`. */
  async verify(
    owner: PasswordOwner,
    password: string,
    hash: string | null | undefined,
    client = noClient,
  ): Promise<PasswordCheck> {
    return toCheck(await this.#perform(owner, client, () => verifyJob(password, hash)), hash);
  }

  /**
   * Finds a principal when a thread will soon be free, and checks its password. So logins that wait or are refused cost the
   * database nothing. Throws `503 unavailable`, and the errors of `find`.
   */
  async findAndVerify<Found extends { password_hash: string | null }>(
    owner: PasswordOwner,
    password: string,
    find: () => Promise<Found | undefined>,
    client = noClient,
  ): Promise<{ found: Found | undefined; check: PasswordCheck }> {
    let found: Found | undefined;
    const result = await this.#perform(owner, client, async () => {
      found = await find();
      return verifyJob(password, found?.password_hash);
    });
    return { found, check: toCheck(result, found?.password_hash) };
  }

  /** Refuses the jobs that wait, and ends the threads. */
  async close(): Promise<void> {
    this.#admissions.close();
    this.#hashing.close();
    await this.#threads.close();
  }

  async #perform(
    owner: PasswordOwner,
    { network, turn }: PasswordClient,
    prepare: () => PasswordJob | Promise<PasswordJob>,
  ): Promise<PasswordResult> {
    const name = `${owner}, ${turn}`;
    await this.#admit(name, network);
    let isAdmitted = true;
    try {
      const job = prepare();
      if (job instanceof Promise && !await settlesWithin(job, maxLookupMs)) {
        this.#admissions.release(name);
        isAdmitted = false;
        await job;
        await this.#admissions.acquire(name, { first: true });
        isAdmitted = true;
      }
      const result = await this.#hash(await job);
      if (result.type === 'failed') throw new Error(`the password thread failed: ${result.message}`);
      return result;
    } finally {
      if (isAdmitted) this.#admissions.release(name);
    }
  }

  /**
   * Waits for a turn. A refusal is late: who is refused at once asks again at once, and a few hundred clients that do nothing
   * else keep the event loop from those who are served.
   */
  async #admit(name: string, client: string): Promise<void> {
    try {
      await this.#admissions.acquire(name, { client });
    } catch (error) {
      await pause(this.#refusalMs);
      throw error;
    }
  }

  #hash(job: PasswordJob): Promise<PasswordResult> {
    return this.#hashing.run(() => this.#threads.perform(job));
  }
}

/** True when a promise is fulfilled or rejected within a time. */
async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  const settled = promise.then(() => true, () => true);
  return await Promise.race([settled, late]).finally(() => clearTimeout(timer));
}

/** The job that checks a password. Without a hash it takes as long and never matches. */
function verifyJob(password: string, hash: string | null | undefined): PasswordJob {
  return { type: 'verify', password, hash: hash ?? dummyHash };
}

function toCheck(result: PasswordResult, hash: string | null | undefined): PasswordCheck {
  if (result.type !== 'verified') throw new Error('not the result of a check');
  const known = hash !== null && hash !== undefined;
  return { matches: known && result.matches, isOutdated: known && isOutdated(hash) };
}

function isOutdated(hash: string): boolean {
  return !hash.startsWith(prefix);
}

function undefinedWhenBusy(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.code !== 'unavailable') throw error;
}

function refusalError(refusal: Refusal): Error {
  if (refusal === 'closed') return new Error('the server stops');
  const message = 'too many passwords are being checked; try again';
  return new ApiError('unavailable', message, [['Retry-After', '2']]);
}
