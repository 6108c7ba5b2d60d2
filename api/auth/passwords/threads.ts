// Threads that hash passwords: they start with the first job and end when there is none for a while.
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** One piece of work for a thread. */
export type PasswordJob =
  | { type: 'hash'; password: string; salt: Uint8Array; memoryKib: number; passes: number; lanes: number }
  | { type: 'verify'; password: string; hash: string };

/** What a thread answers. */
export type PasswordResult =
  | { type: 'hashed'; hash: string }
  | { type: 'verified'; matches: boolean }
  | { type: 'failed'; message: string };

interface UnderWay {
  resolve(answer: PasswordResult): void;
  reject(error: unknown): void;
}

interface Thread {
  worker: Worker;
  busyWith: UnderWay | undefined;
}

/** As many threads as have been needed at once. */
export class PasswordThreads {
  readonly #idleMs: number;
  readonly #threads = new Set<Thread>();
  #idleTimer: NodeJS.Timeout | undefined;

  constructor({ idleMs }: { idleMs: number }) {
    this.#idleMs = idleMs;
  }

  /** Jobs under way. */
  get busy(): number {
    let busy = 0;
    for (const { busyWith } of this.#threads) if (busyWith !== undefined) busy++;
    return busy;
  }

  /** Does a job at once: how many may be under way is the caller's to decide. Rejects when the thread is lost. */
  perform(job: PasswordJob): Promise<PasswordResult> {
    clearTimeout(this.#idleTimer);
    return new Promise((resolve, reject) => {
      const thread = this.#idle() ?? this.#start();
      thread.busyWith = { resolve, reject };
      thread.worker.postMessage(job);
    });
  }

  /** Ends the threads; what is under way is rejected. */
  async close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const threads = [...this.#threads];
    this.#threads.clear();
    await Promise.all(threads.map(({ worker, busyWith }) => {
      busyWith?.reject(new Error('the server stops'));
      return worker.terminate();
    }));
  }

  #idle(): Thread | undefined {
    for (const thread of this.#threads) if (thread.busyWith === undefined) return thread;
    return undefined;
  }

  #start(): Thread {
    // Compiled, the neighbour is a .js file: `tsc` rewrites imports, not strings.
    const file = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);
    const thread: Thread = {
      worker: new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: 32 } }),
      busyWith: undefined,
    };
    this.#threads.add(thread);
    thread.worker.on('message', (answer: PasswordResult) => {
      const done = thread.busyWith;
      thread.busyWith = undefined;
      if (this.busy === 0) this.#rest();
      done?.resolve(answer);
    });
    thread.worker.on('error', (error) => this.#lose(thread, error));
    thread.worker.on('exit', () => this.#lose(thread, new Error('the password thread ended')));
    return thread;
  }

  #lose(thread: Thread, error: unknown): void {
    if (!this.#threads.delete(thread)) return;
    thread.busyWith?.reject(error);
  }

  #rest(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.close(), this.#idleMs);
    this.#idleTimer.unref();
  }
}
