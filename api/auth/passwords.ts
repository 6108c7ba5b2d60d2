// Passwords as argon2id hashes, made in worker threads behind a bounded queue.
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ApiError } from '../errors.ts';
import { OtherWork } from './other-work.ts';

/** One piece of work for a thread. */
export type PasswordJob =
  | { type: 'hash'; password: string; salt: Uint8Array; memoryKib: number; passes: number; lanes: number }
  | { type: 'verify'; password: string; hash: string };

/** What a thread answers. */
export type PasswordAnswer =
  | { type: 'hashed'; hash: string }
  | { type: 'verified'; matches: boolean }
  | { type: 'failed'; message: string };

/** Whether a password is right, and whether its hash was made with other parameters than today's. */
export interface Verdict {
  matches: boolean;
  outdated: boolean;
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

interface Waiting {
  job: PasswordJob;
  since: number;
  resolve(answer: PasswordAnswer): void;
  reject(error: unknown): void;
}

interface Thread {
  worker: Worker;
  busyWith: Waiting | undefined;
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

/** Hashes and checks passwords. Threads start with the first job and end when there is none for a while. */
export class Passwords {
  readonly #limits: PasswordLimits;
  readonly #now: () => number;
  readonly #threads = new Set<Thread>();
  readonly #queue: Waiting[] = [];
  readonly #otherWork: OtherWork;
  #idleTimer: NodeJS.Timeout | undefined;

  /** `answered` counts the requests that this process has answered; without it, it counts as having no other work. */
  constructor(
    options: { now: () => number; answered?: () => number; limits?: Partial<PasswordLimits> },
  ) {
    const { now, answered = () => 0 } = options;
    this.#now = now;
    this.#otherWork = new OtherWork({ now, answered });
    this.#limits = { ...defaultLimits, ...options.limits };
  }

  /** The PHC string of a password. Throws `503 unavailable` when too many wait. */
  async hash(password: string): Promise<string> {
    const answer = await this.#perform({ type: 'hash', password, salt: randomBytes(16), ...parameters });
    if (answer.type !== 'hashed') throw new Error('not the answer to a hash');
    return answer.hash;
  }

  /** Checks a password; without a hash it never matches, but takes as long. Throws `503 unavailable`. */
  async verify(password: string, hash: string | null | undefined): Promise<Verdict> {
    const answer = await this.#perform({ type: 'verify', password, hash: hash ?? nobodysHash });
    if (answer.type !== 'verified') throw new Error('not the answer to a check');
    const known = hash !== null && hash !== undefined;
    return { matches: known && answer.matches, outdated: known && !hash.startsWith(prefix) };
  }

  /** Ends the threads; jobs that wait are refused. */
  async close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    for (const { reject } of this.#queue.splice(0)) reject(new Error('the server stops'));
    await this.#endThreads();
  }

  async #perform(job: PasswordJob): Promise<PasswordAnswer> {
    try {
      return await this.#enqueue(job);
    } finally {
      this.#otherWork.passwordDone();
    }
  }

  async #enqueue(job: PasswordJob): Promise<PasswordAnswer> {
    if (this.#queue.length >= this.#limits.waiting) throw tooBusy();
    clearTimeout(this.#idleTimer);
    const answer = await new Promise<PasswordAnswer>((resolve, reject) => {
      this.#queue.push({ job, since: this.#now(), resolve, reject });
      this.#assign();
    });
    if (answer.type === 'failed') throw new Error(`the password thread failed: ${answer.message}`);
    return answer;
  }

  /** Gives what waits to threads that are free, starting threads up to the limit. */
  #assign(): void {
    while (this.#queue.length > 0) {
      const thread = this.#freeThread();
      if (thread === undefined) return;
      const next = this.#queue.shift();
      if (next === undefined) return;
      if (this.#now() - next.since > this.#limits.waitMilliseconds) {
        next.reject(tooBusy());
        continue;
      }
      thread.busyWith = next;
      thread.worker.postMessage(next.job);
    }
  }

  /**
   * A core is left to other work. Low priority alone does not do it: with a hash on every core, whatever wakes up waits
   * for the scheduler to take one away, several times in a request.
   */
  #freeThread(): Thread | undefined {
    const { threads } = this.#limits;
    const most = this.#otherWork.goesOn() ? Math.max(1, threads - 1) : threads;
    const idle: Thread[] = [];
    for (const thread of this.#threads) if (thread.busyWith === undefined) idle.push(thread);
    if (this.#threads.size - idle.length >= most) return undefined;
    return idle[0] ?? this.#startThread();
  }

  #startThread(): Thread {
    // Compiled, the neighbour is a .js file: `tsc` rewrites imports, not strings.
    const file = new URL(`./password-worker${extname(import.meta.url)}`, import.meta.url);
    const thread: Thread = {
      worker: new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: 32 } }),
      busyWith: undefined,
    };
    this.#threads.add(thread);
    thread.worker.on('message', (answer: PasswordAnswer) => {
      const done = thread.busyWith;
      thread.busyWith = undefined;
      this.#assign();
      this.#restWhenIdle();
      done?.resolve(answer);
    });
    thread.worker.on('error', (error) => this.#lose(thread, error));
    thread.worker.on('exit', () => this.#lose(thread, new Error('the password thread ended')));
    return thread;
  }

  #lose(thread: Thread, error: unknown): void {
    if (!this.#threads.delete(thread)) return;
    thread.busyWith?.reject(error);
    this.#assign();
  }

  #restWhenIdle(): void {
    for (const { busyWith } of this.#threads) if (busyWith !== undefined) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.#endThreads(), this.#limits.idleMilliseconds);
    this.#idleTimer.unref();
  }

  async #endThreads(): Promise<void> {
    const threads = [...this.#threads];
    this.#threads.clear();
    await Promise.all(threads.map(({ worker, busyWith }) => {
      busyWith?.reject(new Error('the server stops'));
      return worker.terminate();
    }));
  }
}

function tooBusy(): ApiError {
  return new ApiError('unavailable', 'too many passwords are being checked; try again', [[
    'Retry-After',
    '2',
  ]]);
}
