// Jobs whose time never comes. A runner registers none, but who writes hooks may make it say what it should not.
import { expect, it } from 'vitest';
import type { AppHooks } from '../../../api/hooks/app-hooks.ts';
import { Registrations } from '../../../api/hooks/registrations.ts';
import { stateOf } from '../../../api/hooks/state.ts';

it('hold up nobody while their next time is looked for, and are looked at once', async () => {
  const jobs = Array.from(
    { length: 60 },
    (_, minute) => ({ name: `j${minute}`, expression: `${minute} 0 30 2 *` }),
  );
  const counters = { runs: 0, errors: 0, lastKill: null, lastKillAt: null };
  const known = new Registrations([{ file: 'a.js', hooks: [], routes: [], jobs }]);
  const hooks: Pick<AppHooks, 'known' | 'live' | 'counters'> = { known, live: undefined, counters };
  const look = async () => {
    let longest = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    });
    const began = performance.now();
    const { state } = await stateOf(hooks, new Map(), new Date('2026-01-01T00:00:00Z'));
    const took = performance.now() - began;
    clearInterval(timer);
    expect(state.jobs.map(({ next_run }) => next_run)).toEqual(Array(60).fill(null));
    return { took, longest };
  };
  await stateOf({ ...hooks, known: new Registrations([]) }, new Map(), new Date());
  const first = await look();
  const second = await look();
  expect(first.longest).toBeLessThan(first.took / 3);
  expect(second.took).toBeLessThan(first.took / 5);
});
