// Work of which only some is under way at a time.

/** Lets so many pieces of work through at once, in the order of asking. */
export class Turnstile {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** `most`: so many at once. */
  constructor(most: number) {
    this.#free = most;
  }

  /** Does the work when it is its turn. Throws what the work throws. */
  async pass<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // Handed on, and free for nobody else meanwhile.
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
