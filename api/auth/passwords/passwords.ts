// Passwords as argon2id hashes, made in worker threads behind a bounded queue.
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { ApiError } from '../../errors.ts';
import { Line, type Owner } from './queue.ts';
import { type PasswordAnswer, type PasswordJob, PasswordThreads } from './threads.ts';

/** Whether a password is right, and whether its hash was made with other parameters than today's. */
export interface Verdict {
  matches: boolean;
  isOutdated: boolean;
}

/** How much may be under way. */
export interface PasswordLimits {
  threads: number;
  /** Jobs that may wait for a thread. */
  waiting: number;
  /** How long one of them may wait. */
  waitMilliseconds: number;
  /** After how long without a job the threads end. */
  idleMilliseconds: number;
}

/** Somebody in line for a thread. */
interface Waiting {
  owner: Owner;
  /** What a thread is to do; undefined until it has been looked up. */
  job: PasswordJob | undefined;
  lookUp: () => Promise<PasswordJob>;
  /** `late`: out of the line until it has been looked up; `gone`: for good. */
  state: 'waits' | 'looks' | 'late' | 'ready' | 'gone';
  since: number;
  resolve(answer: PasswordAnswer): void;
  reject(error: unknown): void;
}

/** OWASP's choice for argon2id: 19 MiB, 2 passes, 1 lane. */
const parameters = { memoryKib: 19_456, passes: 2, lanes: 1 } as const;
const prefix = `$argon2id$v=19$m=${parameters.memoryKib},t=${parameters.passes},p=${parameters.lanes}$`;
/** No password has this hash; checking one against it takes as long as against a real one. */
const nobodysHash = `${prefix}${'A'.repeat(22)}$${'A'.repeat(43)}`;

const defaultLimits: PasswordLimits = {
  threads: availableParallelism(),
  waiting: 128,
  waitMilliseconds: 10_000,
  idleMilliseconds: 5_000,
};

/**
 * How long others wait for somebody to be looked up, which takes a millisecond or two: a tenant's database that answers
 * late holds up nobody else's logins, and takes nobody's place in the line.
 */
const patienceMilliseconds = 50;

/** Hashes and checks passwords. */
export class Passwords {
  readonly #limits: PasswordLimits;
  readonly #now: () => number;
  readonly #threads: PasswordThreads;
  readonly #line: Line<Waiting>;
  readonly #isServerBusy: () => boolean;

  /** `isServerBusy` tells whether this process has other requests to serve. */
  constructor(
    options: { now: () => number; isServerBusy?: () => boolean; limits?: Partial<PasswordLimits> },
  ) {
    const { now, isServerBusy = () => false } = options;
    this.#now = now;
    this.#isServerBusy = isServerBusy;
    this.#limits = { ...defaultLimits, ...options.limits };
    const { idleMilliseconds, waiting } = this.#limits;
    this.#line = new Line(waiting);
    this.#threads = new PasswordThreads({ idleMilliseconds, onFree: () => this.#advance() });
  }

  /** The PHC string of a password. Throws `503 unavailable` when too many wait. */
  async hash(owner: Owner, password: string): Promise<string> {
    const job: PasswordJob = { type: 'hash', password, salt: randomBytes(16), ...parameters };
    const answer = await this.#perform(owner, job);
    if (answer.type !== 'hashed') throw new Error('not the answer to a hash');
    return answer.hash;
  }

  /**
   * Replaces the hash that a password was just found to fit, if it is outdated; not when too many wait, as the next login may
   * do it. Throws what `store` throws.
   */
  async renew(
    { owner, password, hash: from }: { owner: Owner; password: string; hash: string | null },
    store: (hashes: { from: string; to: string }) => Promise<void>,
  ): Promise<void> {
    if (from === null || !isOutdated(from)) return;
    const to = await this.hash(owner, password).catch(undefinedWhenBusy);
    if (to !== undefined) await store({ from, to });
  }

  /** Checks a password; without a hash it never matches, but takes as long. Throws `503 unavailable`. */
  async verify(owner: Owner, password: string, hash: string | null | undefined): Promise<Verdict> {
    return verdictOf(await this.#perform(owner, checkOf(password, hash)), hash);
  }

  /**
   * Checks the password of somebody who is looked up only when it is nearly their turn: of many logins at once, those
   * that wait, or are turned away, cost no more than their request. Throws `503 unavailable`, and what `find` throws.
   */
  async verifyOf<Found extends { password_hash: string | null }>(
    owner: Owner,
    password: string,
    find: () => Promise<Found | undefined>,
  ): Promise<{ found: Found | undefined; verdict: Verdict }> {
    let found: Found | undefined;
    const answer = await this.#perform(owner, async () => {
      found = await find();
      return checkOf(password, found?.password_hash);
    });
    return { found, verdict: verdictOf(answer, found?.password_hash) };
  }

  /** Ends the threads; jobs that wait are refused. */
  async close(): Promise<void> {
    for (const waiting of this.#line.inTurn()) this.#refuse(waiting, new Error('the server stops'));
    await this.#threads.close();
  }

  async #perform(owner: Owner, job: PasswordJob | (() => Promise<PasswordJob>)): Promise<PasswordAnswer> {
    const answer = await this.#queueUp(owner, job);
    if (answer.type === 'failed') throw new Error(`the password thread failed: ${answer.message}`);
    return answer;
  }

  #queueUp(owner: Owner, job: PasswordJob | (() => Promise<PasswordJob>)): Promise<PasswordAnswer> {
    const since = this.#now();
    return new Promise((resolve, reject) => {
      this.#join(
        typeof job === 'function'
          ? { owner, job: undefined, lookUp: job, state: 'waits', since, resolve, reject }
          : { owner, job, lookUp: () => Promise.resolve(job), state: 'ready', since, resolve, reject },
      );
      this.#advance();
    });
  }

  /** Gives jobs to threads, and has those looked up that come next. */
  #advance(): void {
    let ahead = 0;
    for (const waiting of this.#line.inTurn()) {
      if (ahead > this.#limits.threads) return;
      if (this.#now() - waiting.since > this.#limits.waitMilliseconds) this.#refuse(waiting);
      else if (waiting.job !== undefined && this.#threads.busy < this.#mostThreads()) {
        this.#line.leave(waiting, { served: true });
        this.#threads.perform(waiting.job).then(waiting.resolve, waiting.reject);
      } else {
        if (waiting.state === 'waits') this.#lookUp(waiting);
        ahead++;
      }
    }
  }

  #lookUp(waiting: Waiting): void {
    waiting.state = 'looks';
    const patience = setTimeout(() => {
      if (waiting.state !== 'looks') return;
      this.#line.leave(waiting);
      waiting.state = 'late';
      this.#advance();
    }, patienceMilliseconds);
    void waiting.lookUp().then((job) => {
      waiting.job = job;
      // To the head: its time has passed.
      if (waiting.state === 'late') this.#join(waiting, 'head');
      if (waiting.state !== 'gone') waiting.state = 'ready';
    }, (error: unknown) => this.#refuse(waiting, error)).finally(() => {
      clearTimeout(patience);
      this.#advance();
    });
  }

  #join(waiting: Waiting, at: 'end' | 'head' = 'end'): void {
    const dropped = this.#line.join(waiting, at);
    if (dropped !== undefined) this.#refuse(dropped);
  }

  #refuse(waiting: Waiting, error: unknown = tooBusy()): void {
    this.#line.leave(waiting);
    waiting.state = 'gone';
    waiting.reject(error);
  }

  /**
   * A core is left to other work. Low priority alone does not do it: with a hash on every core, whatever wakes up waits
   * for the scheduler to take one away, several times in a request.
   */
  #mostThreads(): number {
    const { threads } = this.#limits;
    return this.#isServerBusy() ? Math.max(1, threads - 1) : threads;
  }
}

/** Without a hash it is one that takes as long and never matches. */
function checkOf(password: string, hash: string | null | undefined): PasswordJob {
  return { type: 'verify', password, hash: hash ?? nobodysHash };
}

function verdictOf(answer: PasswordAnswer, hash: string | null | undefined): Verdict {
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

function tooBusy(): ApiError {
  return new ApiError('unavailable', 'too many passwords are being checked; try again', [[
    'Retry-After',
    '2',
  ]]);
}
