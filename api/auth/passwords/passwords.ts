// Passwords as argon2id hashes, made in worker threads behind a bounded queue.
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { FairQueue, type Refusal } from '../../../storage/concurrency/fair-queue.ts';
import { ApiError } from '../../errors.ts';
import { type PasswordJob, type PasswordResult, PasswordThreads } from './threads.ts';

/** Whether a password is right, and whether its hash was made with other parameters than today's. */
export interface PasswordCheck {
  matches: boolean;
  isOutdated: boolean;
}

/** How much may be under way. */
export interface PasswordLimits {
  threads: number;
  /** Jobs that may wait for a thread. */
  maxWaiting: number;
  /** How long one of them may wait. */
  maxWaitMs: number;
  /** After how long without a job the threads end. */
  idleMs: number;
}

/** Whose passwords they are. However many of one owner wait, those of the others are next. */
export type PasswordOwner = 'masters' | `admins of ${string}` | `users of ${string}`;

/** OWASP's choice for argon2id: 19 MiB, 2 passes, 1 lane. */
const parameters = { memoryKib: 19_456, passes: 2, lanes: 1 } as const;
const prefix = `$argon2id$v=19$m=${parameters.memoryKib},t=${parameters.passes},p=${parameters.lanes}$`;
/** No password has this hash; checking one against it takes as long as against a real one. */
const dummyHash = `${prefix}${'A'.repeat(22)}$${'A'.repeat(43)}`;

const defaultLimits: PasswordLimits = {
  threads: availableParallelism(),
  maxWaiting: 128,
  maxWaitMs: 10_000,
  idleMs: 5_000,
};

/**
 * How long a lookup may take until others go first, in milliseconds. It takes one or two: a tenant's database that is slower
 * delays no other logins.
 */
const maxLookupMs = 50;

/** Hashes and checks passwords. */
export class Passwords {
  readonly #threads: PasswordThreads;
  /** One more is admitted than there are threads: it is looked up while the others are hashed. */
  readonly #admissions: FairQueue;
  readonly #hashing: FairQueue;

  /** `isServerBusy` tells whether this process has other requests to serve. */
  constructor(options: { isServerBusy?: () => boolean; limits?: Partial<PasswordLimits> } = {}) {
    const { isServerBusy = () => false } = options;
    const { threads, maxWaiting, maxWaitMs, idleMs } = { ...defaultLimits, ...options.limits };
    this.#threads = new PasswordThreads({ idleMs });
    this.#admissions = new FairQueue({
      slots: threads + 1,
      maxWaiting: maxWaiting - 1,
      timeoutMs: maxWaitMs,
      refuse: refusalError,
    });
    // A core is left to other work. Low priority alone does not do it: with a hash on every core, whatever wakes up waits
    // for the scheduler to take one away, several times in a request.
    const slots = () => isServerBusy() ? Math.max(1, threads - 1) : threads;
    this.#hashing = new FairQueue({ slots, refuse: refusalError });
  }

  /** The PHC string of a password. Throws `503 unavailable` when too many wait. */
  async hash(owner: PasswordOwner, password: string): Promise<string> {
    const job: PasswordJob = { type: 'hash', password, salt: randomBytes(16), ...parameters };
    const answer = await this.#perform(owner, () => job);
    if (answer.type !== 'hashed') throw new Error('not the answer to a hash');
    return answer.hash;
  }

  /**
   * Replaces the hash that a password was just found to fit, if it is outdated; not when too many wait, as the next login may
   * do it. Throws what `store` throws.
   */
  async renew(
    { owner, password, hash: from }: { owner: PasswordOwner; password: string; hash: string | null },
    store: (hashes: { from: string; to: string }) => Promise<void>,
  ): Promise<void> {
    if (from === null || !isOutdated(from)) return;
    const to = await this.hash(owner, password).catch(undefinedWhenBusy);
    if (to !== undefined) await store({ from, to });
  }

  /** Checks a password; without a hash it never matches, but takes as long. Throws `503 unavailable`. */
  async verify(
    owner: PasswordOwner,
    password: string,
    hash: string | null | undefined,
  ): Promise<PasswordCheck> {
    return toCheck(await this.#perform(owner, () => verifyJob(password, hash)), hash);
  }

  /**
   * Checks the password of somebody who is looked up only when it is nearly their turn: of many logins at once, those
   * that wait, or are turned away, cost no more than their request. Throws `503 unavailable`, and what `find` throws.
   */
  async findAndVerify<Found extends { password_hash: string | null }>(
    owner: PasswordOwner,
    password: string,
    find: () => Promise<Found | undefined>,
  ): Promise<{ found: Found | undefined; verdict: PasswordCheck }> {
    let found: Found | undefined;
    const answer = await this.#perform(owner, async () => {
      found = await find();
      return verifyJob(password, found?.password_hash);
    });
    return { found, verdict: toCheck(answer, found?.password_hash) };
  }

  /** Ends the threads; jobs that wait are refused. */
  async close(): Promise<void> {
    this.#admissions.close();
    this.#hashing.close();
    await this.#threads.close();
  }

  async #perform(
    owner: PasswordOwner,
    prepare: () => PasswordJob | Promise<PasswordJob>,
  ): Promise<PasswordResult> {
    await this.#admissions.acquire(owner);
    let isAdmitted = true;
    try {
      const job = prepare();
      if (job instanceof Promise && !await settlesWithin(job, maxLookupMs)) {
        this.#admissions.release(owner);
        isAdmitted = false;
        await job;
        await this.#admissions.acquire(owner, { first: true });
        isAdmitted = true;
      }
      const answer = await this.#hash(await job);
      if (answer.type === 'failed') throw new Error(`the password thread failed: ${answer.message}`);
      return answer;
    } finally {
      if (isAdmitted) this.#admissions.release(owner);
    }
  }

  #hash(job: PasswordJob): Promise<PasswordResult> {
    return this.#hashing.run(() => this.#threads.perform(job));
  }
}

/** True when a promise settles, either way, in so many milliseconds. */
async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  const settled = promise.then(() => true, () => true);
  return await Promise.race([settled, late]).finally(() => clearTimeout(timer));
}

/** Without a hash it is one that takes as long and never matches. */
function verifyJob(password: string, hash: string | null | undefined): PasswordJob {
  return { type: 'verify', password, hash: hash ?? dummyHash };
}

function toCheck(answer: PasswordResult, hash: string | null | undefined): PasswordCheck {
  if (answer.type !== 'verified') throw new Error('not the answer to a check');
  const known = hash !== null && hash !== undefined;
  return { matches: known && answer.matches, isOutdated: known && isOutdated(hash) };
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
