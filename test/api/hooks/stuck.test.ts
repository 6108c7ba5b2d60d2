// Hooks that do not come back: what their callers are told, and what they hold up.
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { type HookedApp, hookedApp, seen } from '../../harness/hooked-app.ts';

let own: OwnWorkspace;

beforeAll(async () => {
  own = await ownWorkspace();
});

function hooked(source: string): Promise<HookedApp> {
  return hookedApp(own, source);
}

describe('a hook that does not come back', () => {
  it('hook.veto-fail-closed, hook.infinite-loop: the write is refused in time, and the next one goes through', async () => {
    const app = await hooked(`
      onRecordBeforeCreate('posts', async (e) => {
        if (e.record.fields.title === 'loop') for (;;);
        if (e.record.fields.title === 'never') await new Promise(() => {});
        if (e.record.fields.title === 'later') setTimeout(() => { throw new Error('nobody caught this'); });
      });
      onRecordAfterCreate('posts', async (e) => { await $app.records.create('seen', { what: e.record.fields.title }); });`);
    const { admin, records, path } = app;
    const bound = { kind: 'range', min: 500, max: 500 };
    expectOk(await admin.put(`${path}/policies/hooks.timeout_ms`, bound));
    for (const title of ['loop', 'never']) {
      const began = performance.now();
      expect((await admin.post(records('posts'), { title })).body.code).toBe('hook_error');
      expect(performance.now() - began).toBeLessThan(1_500);
      expectOk(await admin.post(records('posts'), { title: `after ${title}` }));
    }
    expect((await seen(app)).map(({ what }) => what)).toEqual(['after loop', 'after never']);
    const status = expectOk(await admin.get(`${path}/hooks/status`));
    expect(status).toMatchObject({ running: true, loaded: ['hooks.ts'], last_kill: 'timeout' });
  });

  it('hook.veto-fail-closed: what it had begun to write is not written once its own time is up', async () => {
    const app = await hooked(`
      const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      onRecordBeforeCreate('posts', async () => { await sleep(600); await $app.records.create('seen', { what: 'late' }); });
      onRecordBeforeCreate('seen', (e) => e.record.fields.what === 'late' ? sleep(800) : undefined);`);
    const { admin, records, path } = app;
    expectOk(await admin.put(`${path}/policies/hooks.timeout_ms`, { kind: 'range', min: 1, max: 1_000 }));
    const refused = await admin.post(records('posts'), { title: 'x' });
    expect(refused.body).toEqual({ code: 'hook_error', message: 'the hook did not finish in time' });
    // By then the other one would have answered, which has not had all of its own time.
    await pause(800);
    expectOk(await admin.post(records('seen'), { what: 'in time' }));
    expect((await seen(app)).map(({ what }) => what)).toEqual(['in time']);
  });

  it('hook.crash-loop: is left down after the fifth time, alone, until its code changes', async () => {
    const source =
      `onRecordBeforeCreate('posts', (e) => { if (e.record.fields.title === 'loop') for (;;); });`;
    const { admin, records, path } = await hooked(source);
    const other = await hooked(source);
    expectOk(await admin.put(`${path}/policies/hooks.timeout_ms`, { kind: 'range', min: 1, max: 500 }));
    let [response, rounds] = [await admin.post(records('posts'), { title: 'loop' }), 1];
    // The file that was just put is noticed in its folder too, which forgives what has happened by then.
    while (response.body.code === 'hook_error' && rounds++ < 12) {
      response = await admin.post(records('posts'), { title: 'loop' });
    }
    expect([response.status, response.body.code]).toEqual([503, 'hook_unavailable']);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(rounds).toBeGreaterThan(5);
    expectOk(await other.admin.post(other.records('posts'), { title: 'of another app' }));
    expectOk(await admin.put(`${path}/hooks/hooks.ts`, { source: `${source}\n// mended` }));
    expectOk(await admin.post(records('posts'), { title: 'fine' }));
  });
});
