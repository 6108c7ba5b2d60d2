// How many runners start at once. Each takes some 30 ms of a core and has 3 s to be ready, so a hundred that start together
// would be too slow, all of them.

const mostAtOnce = 4;

/** Lets starts through in the order in which they come. Loading an app's code is no part of a start: it may take long. */
export class StartGate {
  #starting = 0;
  readonly #waiting: (() => void)[] = [];

  /** Runs a start when it is its turn. Throws what it throws. */
  async pass<Result>(start: () => Promise<Result>): Promise<Result> {
    if (this.#starting < mostAtOnce) this.#starting++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await start();
    } finally {
      // The place goes to the next in line, or is free.
      const next = this.#waiting.shift();
      if (next === undefined) this.#starting--;
      else next();
    }
  }
}
