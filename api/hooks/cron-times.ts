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
    const cron = new Cron(expression, { paused: true, timezone: 'UTC', mode: '5-or-6-parts' });
    return (after) => cron.nextRun(after);
  };
}
