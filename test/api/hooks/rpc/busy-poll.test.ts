// How long the event loop stays awake for the answer of a runner.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { BusyPoll } from '../../../../api/hooks/rpc/busy-poll.ts';

/** One whose time is `world.now`; counts how often it looks. */
function rig({ cores = 2, workers = 1 } = {}) {
  const world = { now: 0, isAwaited: true, looks: 0 };
  const isAwaited = () => {
    world.looks++;
    return world.isAwaited;
  };
  return { world, poll: new BusyPoll({ isAwaited, now: () => world.now, workers, cores }) };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn();
}

it('looks once a turn for a quarter of a millisecond, and then sleeps', async () => {
  const { world, poll } = rig();
  poll.begin();
  await turns(20);
  expect(world.looks).toBeGreaterThan(15);
  expect(world.looks).toBeLessThanOrEqual(20);
  world.now = 0.249;
  await turns(5);
  const before = world.looks;
  await turns(5);
  expect(world.looks).toBeGreaterThan(before);
  world.now = 0.25;
  await turns(2);
  const last = world.looks;
  await turns(10);
  expect(world.looks).toBe(last);
});

it('looks no more often when more is asked, but longer', async () => {
  const { world, poll } = rig();
  poll.begin();
  world.now = 0.2;
  for (let asked = 0; asked < 10; asked++) poll.begin();
  await turns(10);
  expect(world.looks).toBeLessThanOrEqual(10);
  world.now = 0.4;
  const before = world.looks;
  await turns(5);
  expect(world.looks).toBeGreaterThan(before);
});

it('sleeps once all has been answered, and looks again for what is asked then', async () => {
  const { world, poll } = rig();
  poll.begin();
  await turns(2);
  world.isAwaited = false;
  await turns(2);
  const last = world.looks;
  await turns(5);
  expect(world.looks).toBe(last);
  world.isAwaited = true;
  poll.begin();
  await turns(5);
  expect(world.looks).toBeGreaterThan(last + 2);
});

it.each([{ cores: 1 }, { workers: 2 }, { workers: 3 }])(
  'leaves cores to whoever is to answer: %j',
  async (few) => {
    const { world, poll } = rig(few);
    poll.begin();
    await turns(5);
    expect(world.looks).toBe(0);
  },
);
