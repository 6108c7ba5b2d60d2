// The state of an app's hooks: what is registered, how often it ran, what its process uses.
import type { JobRegistration } from '../../../hook-runner/registrations.ts';
import type { AppHooks } from '../app-hooks.ts';
import { type CronTimes, othersTurn } from '../jobs/times.ts';
import type { StatePart } from './aggregate.ts';
import type { HookState } from '../ports.ts';

/** What is known of jobs. */
export interface Timing {
  times: CronTimes;
  /** As far as this process has run them. */
  lastRuns: ReadonlyMap<string, Date | null>;
  now: Date;
}

/** In this process. Starts nothing. */
export async function stateOf(
  { known, live, counters }: Pick<AppHooks, 'known' | 'live' | 'counters'>,
  timing: Timing,
): Promise<StatePart> {
  const files = known?.files ?? [];
  const use = await live?.measure();
  const count = (list: 'hooks' | 'routes' | 'jobs') =>
    files.reduce((sum, file) => sum + file[list].length, 0);
  const state = {
    running: live?.isOpen === true,
    generation: live?.number ?? null,
    loaded: files.map(({ file }) => file),
    registrations: { hooks: count('hooks'), routes: count('routes'), jobs: count('jobs') },
    jobs: known === undefined || known.jobs.length === 0 ? [] : await jobsOf(known.jobs, timing),
    runs: counters.runs,
    errors: counters.errors,
    last_kill: counters.lastKill,
    in_flight: live?.channel.inFlight ?? 0,
    cpu_ms: use?.cpu_ms ?? null,
    rss_bytes: use?.rss_bytes ?? null,
  };
  return { state, lastKillAt: counters.lastKillAt };
}

async function jobsOf(
  jobs: readonly JobRegistration[],
  { times, lastRuns, now }: Timing,
): Promise<HookState['jobs']> {
  const read = await times.open();
  const nextOf = (expression: string) => {
    try {
      return read(expression)(now);
    } catch {
      return null; // of a runner that let through what it should not: never scheduled
    }
  };
  const told: HookState['jobs'] = [];
  for (const { name, expression } of jobs) {
    const next_run = nextOf(expression);
    if (next_run === null) await othersTurn();
    const last_run = lastRuns.get(name)?.toISOString() ?? null;
    told.push({ name, expression, last_run, next_run: next_run?.toISOString() ?? null });
  }
  return told;
}
