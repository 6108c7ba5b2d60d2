// Code that goes on working after its call has ended, with nobody waiting for it.
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { RestWatch } from '../../../api/hooks/rest-watch.ts';
import { expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';

let own: OwnWorkspace;
beforeAll(async () => {
  own = await ownWorkspace();
});

/** Deno derives keys on threads of its own, several at once, so that the runner answers all the while. */
const source = `
  const derive = async () => {
    const key = await crypto.subtle.importKey('raw', new Uint8Array(8), 'PBKDF2', false, ['deriveBits']);
    const how = { name: 'PBKDF2', hash: 'SHA-256', salt: new Uint8Array(16), iterations: 500_000 };
    for (;;) await crypto.subtle.deriveBits(how, key, 256);
  };
  routerAdd('POST', '/derive', () => {
    for (let n = 0; n < 4; n++) void derive();
    return { begun: true };
  });
  routerAdd('GET', '/', () => ({ here: true }));`;

describe('a hook that derives keys when nobody waits for them any more', () => {
  it('hook.cpu-at-rest: is ended, and the next call finds another runner', async () => {
    const { admin, path } = await own.app();
    expectOk(await admin.put(`${path}/hooks/hook.js`, { source }));
    expectOk(await admin.post(`${path}/custom/derive`));
    const status = async () => expectOk(await admin.get(`${path}/hooks/status`));
    expect((await status()).last_kill).toBe(null);
    const begun = performance.now();
    const outcome = await vi.waitFor(async () => {
      const { last_kill, cpu_ms } = await status();
      if (last_kill !== null) return last_kill;
      const passed = performance.now() - begun;
      if (passed > 60_000 && cpu_ms < passed * 0.8) return 'starved';
      throw new Error(`${cpu_ms} ms of CPU time in ${passed} ms, and it is still there`);
    }, { timeout: 120_000, interval: 500 });
    // On a machine that is too busy with others to give it four fifths of a core, it takes none that it should not.
    if (outcome === 'starved') return;
    expect(outcome).toBe('cpu');
    const logs = expectOk(await admin.get(`${path}/hooks/logs`)).items;
    expect(logs.map(({ message }: { message: string }) => message)).toContain(
      'the hook runner went on working while nothing was asked of it',
    );
    expect((await status()).running).toBe(false);
    expect(expectOk(await admin.get(`${path}/custom/`))).toEqual({ here: true });
  }, 130_000);
});

describe('what a runner takes while nothing is asked of it', () => {
  /** A clock, and a process that takes so many milliseconds of CPU time each second. */
  function watched() {
    const state = { now: 0, cpu: 0, measured: 0 };
    const watch = new RestWatch({
      now: () => state.now,
      measure: () => {
        state.measured++;
        return Promise.resolve({ cpu_ms: state.cpu, rss_bytes: 0 });
      },
      cores: 2,
    });
    return {
      state,
      watch,
      pass: (seconds: number, cpuEach: number) => {
        state.now += seconds * 1_000;
        state.cpu += seconds * cpuEach;
      },
    };
  }

  it('is too much at four fifths of a core, over ten seconds', async () => {
    for (const [share, expected] of [[790, false], [810, true], [2_000, true], [0, false]] as const) {
      const { watch, pass } = watched();
      expect(await watch.isOverdrawn()).toBe(false);
      pass(9.9, share);
      expect(await watch.isOverdrawn()).toBe(false);
      pass(0.1, share);
      expect(await watch.isOverdrawn()).toBe(expected);
    }
  });

  it('is not what it takes for calls, however long and whatever of it they take', async () => {
    const { state, watch, pass } = watched();
    await watch.isOverdrawn();
    for (let n = 0; n < 5; n++) {
      watch.begin(state.now);
      pass(12, 2_000);
      expect(await watch.isOverdrawn()).toBe(false);
      watch.end(state.now);
      pass(11, 10);
      expect(await watch.isOverdrawn()).toBe(false);
    }
  });

  it('is found out also where short calls come in between', async () => {
    const { state, watch, pass } = watched();
    await watch.isOverdrawn();
    const found: boolean[] = [];
    for (let n = 0; n < 6; n++) {
      pass(2, 1_000);
      watch.begin(state.now);
      pass(0.01, 1_000);
      watch.end(state.now);
      found.push(await watch.isOverdrawn());
    }
    expect(found).toEqual([false, false, false, false, true, false]);
  });

  it('is asked for no oftener than every ten seconds of rest, and not while calls keep it busy', async () => {
    const { state, watch, pass } = watched();
    for (let n = 0; n < 12; n++) {
      await watch.isOverdrawn();
      pass(5, 0);
    }
    expect(state.measured).toBe(6);
    watch.begin(state.now);
    for (let n = 0; n < 12; n++) {
      pass(5, 1_000);
      await watch.isOverdrawn();
    }
    expect(state.measured).toBe(7);
  });

  it('is nothing where the system does not tell, and where the runner has ended', async () => {
    const watch = new RestWatch({ now: () => 0, measure: () => Promise.resolve(undefined), cores: 2 });
    expect(await watch.isOverdrawn()).toBe(false);
    expect(await watch.isOverdrawn()).toBe(false);
  });
});
