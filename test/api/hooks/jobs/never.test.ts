// Jobs whose time never comes. A runner registers none, but who writes hooks may make it say what it should not.
import { expect, it } from 'vitest';
import type { AppHooks } from '../../../../api/hooks/app-hooks.ts';
import { CronTimes } from '../../../../api/hooks/jobs/times.ts';
import { Registrations } from '../../../../api/hooks/registrations.ts';
import { localState } from '../../../../api/hooks/logs/state.ts';

it('hold up nobody while their next time is looked for, and are looked at once', async () => {
  const jobs = Array.from(
    { length: 60 },
    (_, minute) => ({ name: `j${minute}`, expression: `${minute} 0 30 2 *` }),
  );
  const counters = { runs: 0, errors: 0, lastKill: null, lastKillAt: null };
  const known = new Registrations([{ file: 'a.js', hooks: [], routes: [], jobs }]);
  const hooks: Pick<AppHooks, 'registrations' | 'loaded' | 'live' | 'counters' | 'faults'> = {
    registrations: known,
    loaded: [],
    live: undefined,
    counters,
    faults: [],
  };
  const times = new CronTimes();
  const timing = { times, lastRuns: new Map<string, Date>(), now: new Date('2026-01-01T00:00:00Z') };
  // What loading the library takes is no part of it.
  await times.loadParser();
  const look = async () => {
    let turns = 0;
    const count = () => {
      turns++;
      turn = setImmediate(count);
    };
    let turn = setImmediate(count);
    const began = process.threadCpuUsage();
    const { state } = await localState(hooks, timing);
    clearImmediate(turn);
    expect(state.jobs.map(({ next_run }) => next_run)).toEqual(Array(60).fill(null));
    const { user, system } = process.threadCpuUsage(began);
    return { took: user + system, turns };
  };
  const first = await look();
  const second = await look();
  expect(first.turns).toBeGreaterThanOrEqual(59);
  expect(second.took).toBeLessThan(first.took / 5);
});
