// Writes of one record, one after another: their events come in the order in which they happened.
//
// PostgreSQL puts them in line by the lock of the row, but lets the next one go before it answers: on a busy machine the
// second answer may come first.

/**
 * How long a write waits for others at most. Some take seconds, to look whether a rule admits them, and must not hold up
 * everybody else: what overtakes them holds no lock that they wait for.
 */
const mostMilliseconds = 1_000;

/** The writes under way in one process. */
export class WriteOrder {
  /** By place, who waits for the write that is under way there. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Does work when the work of the same places that came before is done, announcements included. */
  async inTurn<Result>(places: readonly string[], work: () => Promise<Result>): Promise<Result> {
    const until = performance.now() + mostMilliseconds;
    const taken: string[] = [];
    // In one order for all: two that want the same places never wait for each other.
    for (const place of places.length < 2 ? places : [...new Set(places)].sort()) {
      const turn = this.#take(place, until);
      if (turn === undefined || await turn) taken.push(place);
    }
    try {
      return await work();
    } finally {
      for (const place of taken) this.#give(place);
    }
  }

  /** Nothing where it is free, else whether it became so in time. */
  #take(place: string, until: number): Promise<boolean> | undefined {
    const waiting = this.#waiting.get(place);
    if (waiting === undefined) {
      this.#waiting.set(place, []);
      return undefined;
    }
    return new Promise((resolve) => {
      const begin = () => {
        clearTimeout(patience);
        resolve(true);
      };
      const patience = setTimeout(() => {
        waiting.splice(waiting.indexOf(begin), 1);
        resolve(false);
      }, Math.max(0, until - performance.now()));
      waiting.push(begin);
    });
  }

  #give(place: string): void {
    const next = this.#waiting.get(place)?.shift();
    if (next === undefined) this.#waiting.delete(place);
    else next();
  }
}
