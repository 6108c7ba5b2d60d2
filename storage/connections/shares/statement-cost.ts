// What the statements of one workspace take, so that slow ones can be told from quick ones.

/** How much of the past remains with each statement. */
const decay = 0.9;
/** From here on statements are slow, in milliseconds. Most take one or two. */
const slowMs = 10;

/**
 * The mean length of statements, weighted by time: the length that a moment of work belongs to. So a few long statements among many
 * short ones count, since they take most of the time.
 */
export class StatementCost {
  #time = 0;
  #squares = 0;
  readonly #now: () => number;
  /** When the server was last done with a statement of a connection, by the monotonic clock. */
  readonly #doneAt = new WeakMap<object, number>();

  /** `now` is a monotonic clock, in milliseconds. */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** True while most of the time goes to slow statements. */
  get isSlow(): boolean {
    return this.#squares > slowMs * this.#time;
  }

  /** Runs a statement on a connection, and adds what it took beyond those that were sent before it. Throws what it throws. */
  async measure<Result>(connection: object, statement: () => Promise<Result>): Promise<Result> {
    const began = this.#now();
    try {
      return await statement();
    } finally {
      const now = this.#now();
      this.add(now - Math.max(began, this.#doneAt.get(connection) ?? 0));
      this.#doneAt.set(connection, now);
    }
  }

  /** Adds a statement that took so many milliseconds. */
  add(milliseconds: number): void {
    this.#time = this.#time * decay + milliseconds;
    this.#squares = this.#squares * decay + milliseconds ** 2;
  }
}
