// How the hooks of many apps share one process.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { Crowd } from '../../../../api/hooks/pool/call-slots.ts';
import { Turns } from '../../../../api/hooks/pool/app-slots.ts';
import { Turnstile } from '../../../../storage/connections/semaphore.ts';
import { as, expectOk, ownWorkspace } from '../../../harness/api.ts';
import { ownHooks } from '../../../harness/hook-system.ts';

/** Takes places until one has to be waited for. */
function fill(crowd: Crowd, workspace: string): { held: number; waiting: Promise<void> } {
  for (let held = 0;; held++) {
    const waiting = crowd.take(workspace);
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

describe('the calls of hooks over all apps', () => {
  it('are 256 at once, of which one workspace has half at most', () => {
    const crowd = new Crowd();
    expect(fill(crowd, 'a').held).toBe(128);
    expect(fill(crowd, 'b').held).toBe(128);
    expect(fill(crowd, 'c').held).toBe(0);
  });

  it('go to the workspace that has fewest, and to who waits longest among those that have as many', async () => {
    const crowd = new Crowd();
    const [first, second] = [fill(crowd, 'a'), fill(crowd, 'b')];
    const kept = order([
      ['a', first.waiting],
      ['b', second.waiting],
      ['a', crowd.take('a')],
      ['c', crowd.take('c')],
      ['d', crowd.take('d')],
      ['c', crowd.take('c')],
      ['d', crowd.take('d')],
    ]);
    for (let turn = 0; turn < 4; turn++) crowd.give('a');
    await settled();
    expect(kept).toEqual(['c', 'd', 'c', 'd']);
    crowd.give('a');
    crowd.give('a');
    crowd.give('a');
    await settled();
    expect(kept).toEqual(['c', 'd', 'c', 'd', 'a', 'a']);
    crowd.give('b');
    await settled();
    expect(kept.at(-1)).toBe('b');
  });

  it('that stream are 512 at once, of which one workspace has 128', () => {
    const crowd = new Crowd();
    const streams = (workspace: string, count: number) =>
      Array.from({ length: count }, () => crowd.stream(workspace)).filter((isTaken) => isTaken).length;
    expect(streams('a', 130)).toBe(128);
    expect(['b', 'c', 'd', 'e'].map((workspace) => streams(workspace, 128))).toEqual([128, 128, 128, 0]);
    crowd.endStream('a');
    expect([streams('e', 2), streams('a', 1)]).toEqual([1, 0]);
  });

  it('of an app wait for its own turns first', async () => {
    const turns = new Turns(new Crowd(), 'a');
    const taken = Array.from({ length: 160 }, () => turns.take());
    expect(taken.filter((turn) => turn === undefined)).toHaveLength(32);
    expect(() => turns.take()).toThrow('too many hook calls of this app');
    const kept = order([['first', taken[32]], ['second', taken[33]]]);
    turns.give();
    await settled();
    expect(kept).toEqual(['first']);
    for (let turn = 0; turn < 159; turn++) turns.give();
    await settled();
    expect(turns.take()).toBeUndefined();
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
  const starts = new Turnstile(4);
  const asking = vi.spyOn(starts, 'pass');
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
