// When jobs are due.

/** Answers the first time of an expression after another time, or null when there is none. */
export type NextTime = (after: Date) => Date | null;

/** Reads expressions. Throws for one that cannot be read, which the runner does not let through. */
export type ReadExpression = (expression: string) => NextTime;

/** Times are in UTC; where day of month and weekday are both given, one of them is enough. */
export async function openCron(): Promise<ReadExpression> {
  // Loaded only now: most servers have no job, or none yet.
  const { Cron } = await import('croner');
  return (expression) => {
    if (never.has(expression)) return () => null;
    const cron = new Cron(expression, { paused: true, timezone: 'UTC', mode: '5-or-6-parts' });
    return (after) => {
      const next = cron.nextRun(after);
      if (next === null) rememberNever(expression);
      return next;
    };
  };
}

/**
 * No time fits them (`0 0 30 2 *`), which takes some 5 ms each to find out. A runner lets none through, but what it says was
 * written by a tenant.
 */
const never = new Set<string>();
const mostRemembered = 10_000;

function rememberNever(expression: string): void {
  if (never.size >= mostRemembered) never.clear();
  never.add(expression);
}

/** Lets everybody else have a turn: to be awaited after an expression that took so long. */
export function othersTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
