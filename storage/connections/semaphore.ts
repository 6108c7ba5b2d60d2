// Lets only so much work be under way at a time (a semaphore).

/** Lets so many pieces of work through at once. Their owners take turns; of one, first come, first served. */
export class Turnstile {
  #free: number;
  /** In the order of their turns; nobody's list is empty. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** `most`: so many at once. */
  constructor(most: number) {
    this.#free = most;
  }

  /** Does the work in its turn: however much of one `owner` waits, others wait for little of it. Throws what the work throws. */
  async pass<Result>(work: () => Promise<Result>, owner = ''): Promise<Result> {
    if (this.#free > 0) this.#free--;
    else await this.#turn(owner);
    try {
      return await work();
    } finally {
      // Handed on, and free for nobody else meanwhile.
      const next = this.#next();
      if (next === undefined) this.#free++;
      else next();
    }
  }

  #turn(owner: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const own = this.#waiting.get(owner);
    if (own === undefined) this.#waiting.set(owner, [resolve]);
    else own.push(resolve);
    return promise;
  }

  #next(): (() => void) | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const [owner, own] = first;
    const next = own.shift();
    this.#waiting.delete(owner);
    if (own.length > 0) this.#waiting.set(owner, own);
    return next;
  }
}
