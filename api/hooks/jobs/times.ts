// When jobs are due.

/** Returns the first time of an expression after another time, or null when there is none. */
export type NextTime = (after: Date) => Date | null;

/** Reads expressions. Throws for one that cannot be read, which the runner does not let through. */
export type ParseExpression = (expression: string) => NextTime;

/** Characters of an expression are bounded where they arrive: so much is a few MiB. */
const maxNeverDue = 10_000;

/** When jobs of all apps are due. */
export class CronTimes {
  /**
   * Expressions that no time fits (`0 0 30 2 *`), which takes some 5 ms each to find out. A runner lets none through, but
   * what it says was written by a tenant.
   */
  readonly #neverDue = new Set<string>();

  /** Returns a reader of expressions. Times are in UTC; where day of month and weekday are both given, one of them is enough. */
  async loadParser(): Promise<ParseExpression> {
    // Loaded only now: most servers have no job, or none yet.
    const { Cron } = await import('croner');
    return (expression) => {
      if (this.#neverDue.has(expression)) return () => null;
      const cron = new Cron(expression, { paused: true, timezone: 'UTC', mode: '5-or-6-parts' });
      return (after) => {
        const next = cron.nextRun(after);
        if (next === null) this.#addNeverDue(expression);
        return next;
      };
    };
  }

  #addNeverDue(expression: string): void {
    if (this.#neverDue.size >= maxNeverDue) this.#neverDue.clear();
    this.#neverDue.add(expression);
  }
}

/** Lets everybody else have a turn: to be awaited after an expression that took so long. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
