// The state of an app's hooks: what is registered, how often it ran, what its process uses.
import type { JobRegistration } from '../../../hook-runner/registrations.ts';
import type { AppHooks } from '../app-hooks.ts';
import { type CronTimes, yieldToEventLoop } from '../jobs/times.ts';
import type { PeerState } from './aggregate.ts';
import type { HookState } from '../ports.ts';

/** The known state of jobs. */
export interface JobTiming {
  times: CronTimes;
  /** As far as this process has run them. */
  lastRuns: ReadonlyMap<string, Date | null>;
  now: Date;
}

/** In this process. Starts nothing. */
export async function localState(
  { registrations, loaded, live, counters, faults }: Pick<
    AppHooks,
    'registrations' | 'loaded' | 'live' | 'counters' | 'faults'
  >,
  timing: JobTiming,
): Promise<PeerState> {
  const files = registrations?.files ?? [];
  const use = await live?.measure();
  const count = (list: 'hooks' | 'routes' | 'jobs') =>
    files.reduce((sum, file) => sum + file[list].length, 0);
  const state = {
    running: live?.isOpen === true,
    generation: live?.number ?? null,
    loaded: [...loaded],
    errors: [...faults],
    registrations: { hooks: count('hooks'), routes: count('routes'), jobs: count('jobs') },
    jobs: registrations === undefined || registrations.jobs.length === 0
      ? []
      : await jobStates(registrations.jobs, timing),
    runs: counters.runs,
    failed_runs: counters.errors,
    last_kill: counters.lastKill,
    in_flight: live?.channel.inFlight ?? 0,
    cpu_ms: use?.cpu_ms ?? null,
    rss_bytes: use?.rss_bytes ?? null,
  };
  return { state, lastKillAt: counters.lastKillAt };
}

async function jobStates(
  jobs: readonly JobRegistration[],
  { times, lastRuns, now }: JobTiming,
): Promise<HookState['jobs']> {
  const read = await times.loadParser();
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
    if (next_run === null) await yieldToEventLoop();
    const last_run = lastRuns.get(name)?.toISOString() ?? null;
    told.push({ name, expression, last_run, next_run: next_run?.toISOString() ?? null });
  }
  return told;
}
