// When jobs are due.

/** Returns the first time of an expression after another time, or null when there is none. */
export type NextTime = (after: Date) => Date | null;

/** Reads expressions. Throws for one that cannot be read, which the runner does not let through. */
export type ParseExpression = (expression: string) => NextTime;

const mode = '5-or-6-parts';
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
      const cron = new Cron(expression, { paused: true, timezone: 'UTC', mode });
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

/**
 * The smallest time between two runs by an expression, in seconds, as if it were due every day; Infinity for one that cannot
 * be read, which is never due.
 */
export async function readMinGapSec(expression: string): Promise<number> {
  const { CronPattern } = await import('croner');
  let pattern;
  try {
    pattern = new CronPattern(expression, 'UTC', { mode });
  } catch {
    return Infinity;
  }
  const units = [[pattern.second, 1], [pattern.minute, 60], [pattern.hour, 3_600]] as const;
  let [first, last, gap] = [0, 0, Infinity];
  for (const [isDue, seconds] of units) {
    const due = isDue.flatMap((one, index) => one ? [index * seconds] : []);
    due.forEach((at, index) => gap = Math.min(gap, at - (due[index - 1] ?? -Infinity) - (last - first)));
    first += due[0] ?? 0;
    last += due.at(-1) ?? 0;
  }
  return Math.min(gap, 86_400 - (last - first));
}

/** Lets everybody else have a turn: to be awaited after an expression that took so long. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
