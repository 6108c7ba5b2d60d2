// The threads that hash passwords. They start with the first job, and end after a while without any.
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** A job for a thread. */
export type PasswordJob =
  | { type: 'hash'; password: string; salt: Uint8Array; memoryKib: number; passes: number; lanes: number }
  | { type: 'verify'; password: string; hash: string };

/** The result of a job. */
export type PasswordResult =
  | { type: 'hashed'; hash: string }
  | { type: 'verified'; matches: boolean }
  | { type: 'failed'; message: string };

interface PendingJob {
  resolve(result: PasswordResult): void;
  reject(error: unknown): void;
}

interface Thread {
  worker: Worker;
  job: PendingJob | undefined;
}

/** The threads of one process: as many as there were jobs at once. */
export class PasswordThreads {
  readonly #idleMs: number;
  readonly #threads = new Set<Thread>();
  #idleTimer: NodeJS.Timeout | undefined;

  constructor({ idleMs }: { idleMs: number }) {
    this.#idleMs = idleMs;
  }

  /** The number of jobs under way. */
  get busy(): number {
    let busy = 0;
    for (const { job } of this.#threads) if (job !== undefined) busy++;
    return busy;
  }

  /** Starts a job at once, on a new thread if all are busy. Rejects when the thread ends early. */
  perform(job: PasswordJob): Promise<PasswordResult> {
    clearTimeout(this.#idleTimer);
    return new Promise((resolve, reject) => {
      const thread = this.#idle() ?? this.#start();
      thread.job = { resolve, reject };
      thread.worker.postMessage(job);
    });
  }

  /** Rejects the jobs under way, and ends the threads. */
  async close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const threads = [...this.#threads];
    this.#threads.clear();
    await Promise.all(threads.map(({ worker, job }) => {
      job?.reject(new Error('the server stops'));
      return worker.terminate();
    }));
  }

  #idle(): Thread | undefined {
    for (const thread of this.#threads) if (thread.job === undefined) return thread;
    return undefined;
  }

  #start(): Thread {
    // After a build, the worker is a .js file: `tsc` rewrites imports, but not strings.
    const file = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);
    const thread: Thread = {
      worker: new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: 32 } }),
      job: undefined,
    };
    this.#threads.add(thread);
    thread.worker.on('message', (result: PasswordResult) => {
      const job = thread.job;
      thread.job = undefined;
      if (this.busy === 0) this.#endWhenIdle();
      job?.resolve(result);
    });
    thread.worker.on('error', (error) => this.#lose(thread, error));
    thread.worker.on('exit', () => this.#lose(thread, new Error('the password thread ended')));
    return thread;
  }

  #lose(thread: Thread, error: unknown): void {
    if (!this.#threads.delete(thread)) return;
    thread.job?.reject(error);
  }

  #endWhenIdle(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.close(), this.#idleMs);
    this.#idleTimer.unref();
  }
}
