// Whose turn it is at the disk: uploads one after the other, and each after those whom somebody waits for.

/** Resolves when nobody else need come first; undefined when that is so at once. */
export type GiveWay = () => Promise<void> | undefined;

/**
 * Lets one work at a time, in the order of asking. Many uploads at once would otherwise take whole turns of the event
 * loop and all threads that Node writes with, and everything else would wait for them.
 */
export class WriteTurns {
  readonly #giveWay: GiveWay;
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  constructor(giveWay: GiveWay) {
    this.#giveWay = giveWay;
  }

  /** Does the work when it is its turn. Throws what the work throws. */
  async take<Result>(work: () => Promise<Result>): Promise<Result> {
    // Whoever ends a turn hands it on: it stays taken.
    if (this.#isTaken) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#isTaken = true;
    try {
      await this.#giveWay();
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#isTaken = false;
      else next();
    }
  }
}
