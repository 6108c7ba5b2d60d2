// While hooks think, nobody holds a transaction for them, whatever way of writing has asked them.
import { beforeAll, describe, expect, it } from 'vitest';
import { unlimitedPermits } from '../../../storage/connections/permits.ts';
import { Pool } from '../../../storage/connections/pool.ts';
import { type ApiResponse, expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { provisionerEndpoint } from '../../harness/database.ts';
import { upload } from '../../harness/file-app.ts';
import { type HookedApp, hookedApp } from '../../harness/hooked-app.ts';
import { freshEmail, ownUser } from '../../harness/users.ts';

let own: OwnWorkspace;

beforeAll(async () => {
  own = await ownWorkspace();
});

/** Once it is closed, hooks of `held` and `members` wait at the gate until it is opened. */
const source = `
  let gate, open;
  routerAdd('POST', '/close', () => { gate = new Promise((resolve) => open = resolve); });
  routerAdd('POST', '/open', () => open());
  for (const collection of ['held', 'members']) {
    for (const on of [onRecordBeforeCreate, onRecordBeforeUpdate, onRecordBeforeDelete]) on(collection, () => gate);
  }
  onRecordBeforeCreate('seen', async () => { await $app.records.create('held', {}); });`;

async function gatedApp(): Promise<HookedApp> {
  const app = await hookedApp(own, source);
  const make = async (id: string, kind: string, fields: object[]) =>
    expectOk(await app.admin.post(`${app.path}/collections`, { schema: { id, kind, fields } }));
  await make('members', 'auth', []);
  await make('held', 'base', [
    { name: 'file', kind: 'file' },
    { name: 'owner', kind: 'relation', target: 'users', cascade_delete: true },
    { name: 'post', kind: 'relation', target: 'posts' },
  ]);
  // What waits at the gate is not to run out of time.
  expectOk(
    await app.admin.put(`${app.path}/policies/hooks.timeout_ms`, { kind: 'range', min: 1, max: 30_000 }),
  );
  return app;
}

describe('hook.no-tx-across-rpc: while hooks think', () => {
  it(
    'no transaction of the workspace is open, and then every write is done',
    { timeout: 120_000 },
    async () => {
      const { admin, path, records } = await gatedApp();
      const user = await ownUser(own);
      const create = async (collection: string, fields: object) =>
        String(expectOk(await admin.post(records(collection), fields)).id);
      const file = await upload(admin, { path }, 'bytes');
      const post = await create('posts', {});
      const [changed, gone] = [await create('held', {}), await create('held', {})];
      for (const fields of [{ file: file.id }, { owner: user.id }, { post }]) await create('held', fields);
      await create('members', { email: user.email });

      expectOk(await admin.post(`${path}/custom/close`));
      const writes: Record<string, Promise<ApiResponse>> = {
        create: admin.post(records('held'), {}),
        update: admin.patch(`${records('held')}/${changed}`, {}),
        delete: admin.delete(`${records('held')}/${gone}`),
        batch: admin.post(`${path}/batch`, { requests: [{ method: 'POST', collection: 'held', body: {} }] }),
        'a profile and its user': admin.post(records('members'), {
          email: freshEmail(),
          password: 'a long one',
        }),
        'a deleted user': own.admin.delete(`${own.path}/users/${user.id}`),
        'a deleted file': admin.delete(`${path}/files/${file.id}`),
        'a deletion that empties a relation': admin.delete(`${records('posts')}/${post}`),
        'a write by a hook': admin.post(records('seen'), {}),
      };
      // The last one's hook waits as well as what it asks for.
      const waiting = Object.keys(writes).length + 1;
      const inFlight = async () => expectOk(await admin.get(`${path}/hooks/status`)).in_flight;
      await expect.poll(inFlight, { timeout: 25_000 }).toBe(waiting);
      expect((await sessionsOf(own.id)).length).toBeGreaterThan(0);
      // What the server does by itself meanwhile is over soon.
      const open = async () => (await sessionsOf(own.id)).filter((session) => session.open);
      await expect.poll(open, { timeout: 10_000 }).toEqual([]);
      expectOk(await admin.post(`${path}/custom/open`));
      for (const [name, write] of Object.entries(writes)) {
        const { status, text } = await write;
        expect(status, `${name}: ${text}`).toBeLessThan(300);
      }
    },
  );
});

/** Connections to the database of a workspace, and whether they have a transaction: each holds the lock on its own number. */
async function sessionsOf(workspace: string): Promise<{ open: boolean }[]> {
  const pool = new Pool(provisionerEndpoint(), { cap: 1, permits: unlimitedPermits, now: Date.now });
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
