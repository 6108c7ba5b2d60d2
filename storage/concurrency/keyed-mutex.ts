// A mutex for each key: work on the same keys is done one after another, in the order in which it came.

/** One mutex a key, made when it is wanted. */
export class KeyedMutex {
  /** By locked key, those who wait for it. */
  readonly #locked = new Map<string, (() => void)[]>();
  readonly #maxWaitMs: number;

  /**
   * `maxWaitMs`: how long work waits for its keys altogether. After that it goes on without those that it has not got, so
   * this mutex gives order, never the only guard of what it orders.
   */
  constructor({ maxWaitMs }: { maxWaitMs: number }) {
    this.#maxWaitMs = maxWaitMs;
  }

  /** Does work while it holds the mutexes of these keys, and returns its result. Throws what the work throws. */
  async run<Result>(keys: readonly string[], work: () => Promise<Result>): Promise<Result> {
    const until = performance.now() + this.#maxWaitMs;
    const held: string[] = [];
    // In one order for all: two that want the same keys never wait for each other.
    for (const key of keys.length < 2 ? keys : [...new Set(keys)].sort()) {
      const locked = this.#lock(key, until);
      if (locked === undefined || await locked) held.push(key);
    }
    try {
      return await work();
    } finally {
      for (const key of held) this.#unlock(key);
    }
  }

  /** Locks a key: at once (undefined), or by a promise of whether that was in time. */
  #lock(key: string, until: number): Promise<boolean> | undefined {
    const waiting = this.#locked.get(key);
    if (waiting === undefined) {
      this.#locked.set(key, []);
      return undefined;
    }
    return new Promise((resolve) => {
      const admit = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(admit), 1);
        resolve(false);
      }, Math.max(0, until - performance.now()));
      waiting.push(admit);
    });
  }

  #unlock(key: string): void {
    const next = this.#locked.get(key)?.shift();
    if (next === undefined) this.#locked.delete(key);
    else next();
  }
}
