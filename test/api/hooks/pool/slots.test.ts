// How the hooks of many apps share one process.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { AppSlots, createSharedSlots, type SharedSlots } from '../../../../api/hooks/pool/slots.ts';
import { FairQueue } from '../../../../storage/concurrency/fair-queue.ts';
import { as, expectOk, ownWorkspace } from '../../../harness/api.ts';
import { ownHooks } from '../../../harness/hook-system.ts';

const busy = expect.objectContaining({ code: 'hook_busy' });

/** Takes places until one has to be waited for. */
function fill({ calls }: SharedSlots, workspace: string): { held: number; waiting: Promise<void> } {
  for (let held = 0;; held++) {
    const waiting = calls.acquire(workspace);
    if (waiting !== undefined) return { held, waiting };
  }
}

/** Whose promises are kept, in that order. */
function order(promises: readonly (readonly [name: string, promise: void | Promise<void>])[]): string[] {
  const kept: string[] = [];
  for (const [name, promise] of promises) void Promise.resolve(promise).then(() => kept.push(name));
  return kept;
}

/** Until all that can go on has gone on. */
function settled(): Promise<void> {
  return nextTurn();
}

/** What policy says. */
function limitOf(concurrency: number) {
  const known = { timeoutMs: 1, concurrency, cronMinSec: 60 };
  return { known, find: () => Promise.resolve(known) };
}

describe('the calls of hooks over all apps', () => {
  it('are 256 at once, of which one workspace has half at most', () => {
    const shared = createSharedSlots();
    expect(fill(shared, 'a').held).toBe(128);
    expect(fill(shared, 'b').held).toBe(128);
    expect(fill(shared, 'c').held).toBe(0);
  });

  it('go to the workspace that has fewest, and to who waits longest among those that have as many', async () => {
    const shared = createSharedSlots();
    const [first, second] = [fill(shared, 'a'), fill(shared, 'b')];
    const kept = order([
      ['a', first.waiting],
      ['b', second.waiting],
      ['a', shared.calls.acquire('a')],
      ['c', shared.calls.acquire('c')],
      ['d', shared.calls.acquire('d')],
      ['c', shared.calls.acquire('c')],
      ['d', shared.calls.acquire('d')],
    ]);
    for (let turn = 0; turn < 4; turn++) shared.calls.release('a');
    await settled();
    expect(kept).toEqual(['c', 'd', 'c', 'd']);
    shared.calls.release('a');
    shared.calls.release('a');
    shared.calls.release('a');
    await settled();
    expect(kept).toEqual(['c', 'd', 'c', 'd', 'a', 'a']);
    shared.calls.release('b');
    await settled();
    expect(kept.at(-1)).toBe('b');
  });

  it('that stream are 512 at once, of which one workspace has 128', () => {
    const shared = createSharedSlots();
    const streams = (workspace: string, count: number) =>
      Array.from({ length: count }, () => shared.streams.tryAcquire(workspace)).filter((isTaken) => isTaken)
        .length;
    expect(streams('a', 130)).toBe(128);
    expect(['b', 'c', 'd', 'e'].map((workspace) => streams(workspace, 128))).toEqual([128, 128, 128, 0]);
    shared.streams.release('a');
    expect([streams('e', 2), streams('a', 1)]).toEqual([1, 0]);
  });

  it('of an app wait for its own turns first', async () => {
    const slots = new AppSlots(createSharedSlots(), 'a', limitOf(32));
    const taken = Array.from({ length: 160 }, () => slots.acquire());
    expect(taken.filter((turn) => turn === undefined)).toHaveLength(32);
    expect(() => slots.acquire()).toThrow('too many hook calls of this app');
    const kept = order([['first', taken[32]], ['second', taken[33]]]);
    slots.release();
    await settled();
    expect(kept).toEqual(['first']);
    for (let turn = 0; turn < 159; turn++) slots.release();
    await settled();
    expect(slots.acquire()).toBeUndefined();
  });

  it('of an app are as many as policy has it, and four times as many wait, from the next call on', async () => {
    const limit = limitOf(1);
    const slots = new AppSlots(createSharedSlots(), 'a', limit);
    const taken = Array.from({ length: 5 }, () => slots.acquire());
    expect(taken.filter((turn) => turn === undefined)).toHaveLength(1);
    expect(() => slots.acquire()).toThrow('too many hook calls of this app');
    limit.known.concurrency = 3;
    const later = slots.acquire();
    const kept = order([['second', taken[1]], ['third', taken[2]], ['later', later]]);
    await settled();
    expect(kept).toEqual(['second', 'third']);
  });

  it('of a workspace that holds all it may leave room for another on a real server', async () => {
    const [busy, other] = [await ownWorkspace(), await ownWorkspace()];
    const source = `
      routerAdd('GET', '/slow', () => new Promise((resolve) => setTimeout(() => resolve(1), 2000)));
      routerAdd('GET', '/quick', () => 1);`;
    const apps = await Promise.all(Array.from({ length: 5 }, () => busy.app()));
    const quick = await other.app();
    for (const { admin, path } of [...apps, quick]) {
      expectOk(await admin.put(`${path}/hooks/hooks.js`, { source }));
    }
    const ended: number[] = [];
    const began = performance.now();
    const slow = apps.flatMap(({ path }) =>
      Array.from({ length: 32 }, async () => {
        expectOk(await as().get(`${path}/custom/slow`));
        ended.push(performance.now() - began);
      })
    );
    await expect.poll(async () => {
      const states = await Promise.all(apps.map(({ admin, path }) => admin.get(`${path}/hooks/status`)));
      return states.reduce((sum, state) => sum + expectOk(state).in_flight, 0);
    }, { interval: 20 }).toBe(128);
    expectOk(await as().get(`${quick.path}/custom/quick`));
    expect(ended).toEqual([]);
    await Promise.all(slow);
    expect(ended).toHaveLength(160);
  });
});

it('an app whose process is to start does not wait for all those of another workspace', async () => {
  const starting: (() => void)[] = [];
  const starts = new FairQueue({ slots: 4 });
  const asking = vi.spyOn(starts, 'run');
  const own = await ownHooks({
    settings: { max_runners: 20 },
    starts,
    mayStart: () => new Promise((resolve) => starting.push(resolve)),
    speaker: (message, say) => {
      if (message.type !== 'load') return;
      const files = message.files.map(({ file }) => ({ file, hooks: [], routes: [], jobs: [] }));
      say({ type: 'loaded', id: message.id, files, errors: [] });
    },
  });
  const files = { 'a.js': '' };
  const loud = [];
  for (let n = 0; n < 12; n++) loud.push(await own.app(`loud${n}`, files));
  const quiet = await own.app('quiet', files, 'quiet');
  const loads = loud.map((hooks) => hooks.reload(true));
  await expect.poll(() => asking.mock.calls.length, { interval: 1 }).toBe(12);
  loads.push(quiet.reload(true));
  // Who has not read its files by now does not wait yet.
  await expect.poll(() => asking.mock.calls.length, { interval: 1 }).toBe(13);
  for (let started = 0; started < 13; started++) {
    await expect.poll(() => starting.length, { interval: 1 }).toBeGreaterThan(0);
    starting.shift()?.();
  }
  await Promise.all(loads);
  const asked = own.asked.filter(({ type }) => type === 'runner_start');
  expect(asked).toHaveLength(13);
  expect(asked.at(-1)).toMatchObject({ workspace: 'acme' });
  await own.end();
});

it('a response that streams gives its turn back, and at most 64 of an app do', async () => {
  const slots = new AppSlots(createSharedSlots(), 'a', limitOf(32));
  for (let stream = 0; stream < 64; stream++) {
    expect(slots.acquire()).toBeUndefined();
    slots.beginStream();
  }
  expect(slots.acquire()).toBeUndefined();
  expect(() => slots.beginStream()).toThrow(busy);
  slots.endStream();
  slots.beginStream();
  for (let turn = 0; turn < 32; turn++) expect(slots.acquire()).toBeUndefined();
  // That of the one which was refused was kept until it could stream.
  let isTaken = false;
  void slots.acquire()?.then(() => isTaken = true);
  await nextTurn();
  expect(isTaken).toBe(false);
});

it('a turn that was waited for has its place too', async () => {
  const shared = createSharedSlots();
  const slots = new AppSlots(shared, 'a', limitOf(32));
  const taken = Array.from({ length: 64 }, () => slots.acquire());
  for (let turn = 0; turn < 32; turn++) slots.release();
  await Promise.all(taken);
  // 128 of one workspace: 32 are taken.
  const others = Array.from({ length: 97 }, () => shared.calls.acquire('a'));
  expect(others.filter((place) => place === undefined)).toHaveLength(96);
});

it('answers that stream are counted for their workspace also when it does nothing else', () => {
  const shared = createSharedSlots();
  for (let stream = 0; stream < 128; stream++) expect(shared.streams.tryAcquire('a')).toBe(true);
  expect(shared.calls.acquire('a')).toBeUndefined();
  shared.calls.release('a');
  expect(shared.streams.tryAcquire('a')).toBe(false);
});
