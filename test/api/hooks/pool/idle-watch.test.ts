// Code that goes on working after its call has ended, with nobody waiting for it.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { IdleWatch } from '../../../../api/hooks/pool/idle-watch.ts';
import { beforeCreate, type OwnHooks, ownHooks } from '../../../harness/hook-system.ts';

/** Deno derives keys on threads of its own, several at once, so that the runner answers all the while. */
const source = `
  const derive = async () => {
    const key = await crypto.subtle.importKey('raw', new Uint8Array(8), 'PBKDF2', false, ['deriveBits']);
    const how = { name: 'PBKDF2', hash: 'SHA-256', salt: new Uint8Array(16), iterations: 500_000 };
    for (;;) await crypto.subtle.deriveBits(how, key, 256);
  };
  onRecordBeforeCreate('keys', () => {
    for (let n = 0; n < 4; n++) void derive();
  });`;

/** Beside many other processes, a runner does not get what it would have to take on a machine of its own. */
const restShare = 0.05;

let own: OwnHooks;

beforeAll(async () => {
  own = await ownHooks({ restShare });
});
afterAll(() => own.end());

describe('a hook that derives keys when nobody waits for them any more', () => {
  it('hook.cpu-at-rest: is ended, and the next call finds another runner', async () => {
    const files = { 'hook.js': source };
    const [busy, calm] = [await own.app('busy', files), await own.app('calm', files)];
    await beforeCreate(calm, 'notes');
    await beforeCreate(busy, 'keys');
    const runners = [busy.live, calm.live];
    await vi.waitUntil(() => busy.counters.lastKill !== null, { timeout: 60_000, interval: 100 });
    expect(busy.counters.lastKill).toBe('cpu');
    expect(busy.log.entries.map(({ message }) => message)).toContain(
      'the hook runner went on working while nothing was asked of it',
    );
    expect(busy.live?.isOpen).toBe(false);
    expect(await beforeCreate(busy, 'notes')).toMatchObject({ outcome: 'done' });
    expect(busy.live).not.toBe(runners[0]);
    // One that rests meanwhile stays.
    expect([calm.live, calm.counters.lastKill]).toEqual([runners[1], null]);
  }, 90_000);
});

describe('what a runner takes while nothing is asked of it', () => {
  /** A clock, and a process that takes so many milliseconds of CPU time each second. */
  function watched(idleEach = 1_000, idle = 1) {
    const state = { now: 0, cpu: 0, measured: 0, idle };
    const watch = new IdleWatch({
      now: () => state.now,
      measure: () => {
        state.measured++;
        return Promise.resolve({ cpu_ms: state.cpu, rss_bytes: 0 });
      },
      cores: 2,
      idle: () => state.idle,
    });
    return {
      state,
      watch,
      pass: (seconds: number, cpuEach: number) => {
        state.now += seconds * 1_000;
        state.cpu += seconds * cpuEach;
        state.idle += seconds * idleEach;
      },
    };
  }

  it('is too much at four fifths of a core, over ten seconds', async () => {
    for (const [share, expected] of [[790, false], [810, true], [2_000, true], [0, false]] as const) {
      const { watch, pass } = watched();
      expect(await watch.isOverShare()).toBe(false);
      pass(9.9, share);
      expect(await watch.isOverShare()).toBe(false);
      pass(0.1, share);
      expect(await watch.isOverShare()).toBe(expected);
    }
  });

  it('is too much at a fifth of a core where the machine has no time to spare: several share it, perhaps', async () => {
    const cases = [
      [0, 190, false],
      [0, 210, true],
      [190, 210, true],
      [210, 210, false],
      [210, 810, true],
    ] as const;
    for (const [idle, share, expected] of cases) {
      const { watch, pass } = watched(idle);
      await watch.isOverShare();
      pass(10, share);
      expect([idle, share, await watch.isOverShare()]).toEqual([idle, share, expected]);
    }
    const { watch, pass } = watched(0, 0);
    await watch.isOverShare();
    pass(10, 790);
    expect(await watch.isOverShare()).toBe(false);
  });

  it('is not what it takes for calls, however long and whatever of it they take', async () => {
    const { state, watch, pass } = watched();
    await watch.isOverShare();
    for (let n = 0; n < 5; n++) {
      watch.begin(state.now);
      pass(12, 2_000);
      expect(await watch.isOverShare()).toBe(false);
      watch.end(state.now);
      pass(11, 10);
      expect(await watch.isOverShare()).toBe(false);
    }
  });

  it('is found out also where short calls come in between', async () => {
    const { state, watch, pass } = watched();
    await watch.isOverShare();
    const found: boolean[] = [];
    for (let n = 0; n < 6; n++) {
      pass(2, 1_000);
      watch.begin(state.now);
      pass(0.01, 1_000);
      watch.end(state.now);
      found.push(await watch.isOverShare());
    }
    expect(found).toEqual([false, false, false, false, true, false]);
  });

  it('is asked for no oftener than every ten seconds of rest, and not while calls keep it busy', async () => {
    const { state, watch, pass } = watched();
    for (let n = 0; n < 12; n++) {
      await watch.isOverShare();
      pass(5, 0);
    }
    expect(state.measured).toBe(6);
    watch.begin(state.now);
    for (let n = 0; n < 12; n++) {
      pass(5, 1_000);
      await watch.isOverShare();
    }
    expect(state.measured).toBe(7);
  });

  it('is nothing where the system does not tell, and where the runner has ended', async () => {
    const watch = new IdleWatch({ now: () => 0, measure: () => Promise.resolve(undefined), cores: 2 });
    expect(await watch.isOverShare()).toBe(false);
    expect(await watch.isOverShare()).toBe(false);
  });
});
