// Old processes of an app: what they have under way ends in them, but they are few, and none stays for long.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { AppHooks } from '../../../../api/hooks/app-hooks.ts';
import type { Generation } from '../../../../api/hooks/pool/generation.ts';
import { beforeCreate, keepBusy, type OwnHooks, ownHooks } from '../../../harness/hook-system.ts';

let own: OwnHooks;

beforeAll(async () => {
  own = await ownHooks();
});
afterAll(() => own.end());

const files = {
  'a.js': `
    let go;
    onRecordBeforeCreate('slow', (e) => new Promise((resolve) => { go = resolve; }));
    cronAdd('go', '@yearly', () => { setTimeout(go); });
    cronAdd('never', '@yearly', () => new Promise(() => {}));`,
};

/** Loads the code once more, and leaves the process before with something that does not end. */
async function leave(hooks: AppHooks): Promise<{ left: Generation; ended: Promise<unknown> }> {
  const { live } = hooks;
  if (live === undefined) throw new Error('nothing was loaded');
  const ended = keepBusy(hooks);
  await hooks.reload(true);
  return { left: live, ended };
}

const stopped = expect.objectContaining({ message: 'the hook runner was stopped while the hook ran' });

it('answers in the process that has begun, which ends then, and takes nothing new', async () => {
  const hooks = await own.app('drain', files);
  await hooks.reload(true);
  const { live } = hooks;
  const run = beforeCreate(hooks, 'slow');
  await expect.poll(() => live?.channel.inFlight, { interval: 1 }).toBe(1);
  await hooks.reload(true);
  expect([live?.isOpen, live?.channel.isOpen]).toEqual([false, true]);
  expect(hooks.live?.isOpen).toBe(true);
  await keepBusy({ live }, 'go');
  expect(await run).toMatchObject({ outcome: 'done' });
  expect(live?.channel.isOpen).toBe(false);
  await live?.exited;
});

it('keeps four of them, and ends the oldest for a fifth', async () => {
  const hooks = await own.app('four', files);
  await hooks.reload(true);
  const first = await leave(hooks);
  const others = [];
  for (let count = 0; count < 3; count++) others.push(await leave(hooks));
  expect(first.left.channel.isOpen).toBe(true);
  others.push(await leave(hooks));
  expect(first.left.channel.isOpen).toBe(false);
  expect(await first.ended).toEqual(stopped);
  expect(others.map(({ left }) => left.channel.isOpen)).toEqual([true, true, true, true]);
  hooks.drop();
  expect(others.map(({ left }) => left.channel.isOpen)).toEqual([false, false, false, false]);
  expect(await Promise.all(others.map(({ ended }) => ended))).toEqual([stopped, stopped, stopped, stopped]);
});

it('ends one that has not come to its end after 30 s', async () => {
  const hooks = await own.app('late', files);
  await hooks.reload(true);
  // Its own timer alone: to advance the clock would end connections that are being opened meanwhile.
  const timers = vi.spyOn(globalThis, 'setTimeout');
  try {
    const { left, ended } = await leave(hooks);
    const expire = timers.mock.calls.filter(([, ms]) => ms === 30_000).map(([callback]) => callback);
    expect(left.channel.isOpen).toBe(true);
    for (const callback of expire) callback();
    expect(await ended).toEqual(stopped);
  } finally {
    timers.mockRestore();
  }
});

it.each(['protocol_error', 'timeout', 'not_reading', 'cpu'] as const)(
  'rpc.fuzz: kills one that is ended for %s, and does not wait for its end',
  async (end) => {
    const hooks = await own.app(end.replace('_', '-'), files);
    await hooks.reload(true);
    const { live } = hooks;
    const before = own.asked.length;
    live?.channel.end(end, 'over');
    await live?.exited;
    expect(own.asked.slice(before)).toEqual([
      expect.objectContaining({ type: 'runner_stop', kill: true, fault: true }),
    ]);
  },
);

it('lets nothing of an app live on that was deleted while it was loaded', async () => {
  const hooks = await own.app('gone', files);
  const loading = hooks.reload(true);
  hooks.drop();
  await loading;
  expect(hooks.live).toBeUndefined();
});
