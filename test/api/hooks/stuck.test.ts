// Hooks that do not come back: what their callers are told, and what they hold up.
import { beforeAll, describe, expect, it } from 'vitest';
import { unlimited } from '../../../storage/permits.ts';
import { Pool } from '../../../storage/pool.ts';
import { expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { provisionerEndpoint } from '../../harness/database.ts';
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

  it('hook.no-tx-across-rpc: while hooks sleep no transaction of the workspace is open', async () => {
    const app = await hooked(`
      const sleep = () => new Promise((resolve) => setTimeout(resolve, 1500));
      onRecordBeforeCreate('posts', sleep);
      onRecordBeforeUpdate('posts', sleep);`);
    const { id } = expectOk(await app.admin.post(app.records('posts'), { title: 'first' }));
    const writes = [
      app.admin.post(app.records('posts'), { title: 'slow' }),
      app.admin.patch(`${app.records('posts')}/${id}`, { title: 'slow' }),
      app.admin.post(`${app.path}/batch`, {
        requests: [{ method: 'POST', collection: 'posts', body: { title: 'slow too' } }],
      }),
    ];
    while (expectOk(await app.admin.get(`${app.path}/hooks/status`)).in_flight < writes.length);
    const sessions = await sessionsOf(own.id);
    expect(sessions.length).toBeGreaterThan(0);
    expect(sessions.filter(({ open }) => open)).toEqual([]);
    for (const write of writes) expectOk(await write);
  });
});

/** Connections to the database of a workspace, and whether they have a transaction: each holds the lock on its own number. */
async function sessionsOf(workspace: string): Promise<{ open: boolean }[]> {
  const pool = new Pool(provisionerEndpoint(), { cap: 1, permits: unlimited, now: Date.now });
  try {
    return await pool.run((sql) =>
      sql<{ open: boolean }[]>`
      select exists (select from pg_locks as l where l.pid = a.pid and l.locktype = 'virtualxid') as open
      from pg_stat_activity as a
      where datname = (select database from control.workspaces where id = ${workspace})`
    );
  } finally {
    await pool.end();
  }
}
