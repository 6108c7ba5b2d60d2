// The usage of workspaces and apps.
import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk, type OwnApp, ownWorkspace } from '../../harness/api.ts';
import { openDatabaseOf } from '../../harness/database.ts';
import { expectError } from '../../harness/expectations.ts';
import { type FileApp, fileApp, upload } from '../../harness/file-app.ts';

let place: FileApp;
let second: OwnApp;

const schema = { id: 'notes', kind: 'base', fields: [{ name: 'title', kind: 'text' }] };

async function usageOf(caller: Caller, path: string) {
  return expectOk(await caller.get(`${path}/usage`));
}

beforeAll(async () => {
  place = await fileApp();
  second = await place.own.app();
  for (const app of [place.app, second]) {
    expectOk(await app.admin.post(`${app.path}/collections`, { schema }));
  }
});

describe('the usage of an app', () => {
  it('counts records, files and users exactly, and what they take up', async () => {
    const { app, own } = place;
    const before = await usageOf(app.admin, app.path);
    for (const title of ['a', 'b', 'c']) {
      expectOk(await app.admin.post(`${app.path}/collections/notes/records`, { title }));
    }
    await upload(app.admin, app, 'x'.repeat(1_000));
    const email = `${crypto.randomUUID()}@example.com`;
    expectOk(await own.admin.post(`${own.path}/auth/users/register`, { email, password: 'a long password' }));
    const after = await usageOf(app.admin, app.path);
    expect(after).toMatchObject({
      records: before.records + 3,
      records_exact: true,
      files: before.files + 1,
      file_bytes: before.file_bytes + 1_000,
      users: before.users + 1,
      quotas: { storage_mb: 10_240, records: null, users: null, requests_per_sec: null },
    });
    expect(after.database_bytes).toBeGreaterThan(0);
  });

  it('is marked as an estimate where a collection is too large to be counted', async () => {
    const { own } = place;
    const app = await own.app();
    for (const id of ['large', 'small']) {
      expectOk(await app.admin.post(`${app.path}/collections`, { schema: { ...schema, id } }));
      expectOk(await app.admin.post(`${app.path}/collections/${id}/records`, { title: 'one' }));
    }
    const pool = await openDatabaseOf(own.id);
    await pool.transaction(async (sql) => {
      const [table] = await sql<{ schema: string; owner: string }[]>`
        select schemaname as schema, tableowner as owner from pg_tables where tablename = 'large'`;
      await sql.unsafe(`set local role ${table?.owner}`);
      await sql`
        select pg_restore_relation_stats(
          'schemaname', ${table?.schema ?? ''}::text, 'relname', 'large', 'reltuples', 6e6::real)`;
    }).finally(() => pool.end());
    const guess = { records: 6_000_001, records_exact: false };
    expect(await usageOf(app.admin, app.path)).toMatchObject(guess);
    expect((await usageOf(own.admin, own.path)).records_exact).toBe(false);
    expectOk(await own.admin.delete(app.path));
    expect((await usageOf(own.admin, own.path)).records_exact).toBe(true);
  });

  it('counts every request to it since the last request for usage, this one included, and none to another app', async () => {
    const before = await usageOf(second.admin, second.path);
    for (let times = 0; times < 5; times++) {
      await second.admin.get(`${second.path}/collections/notes/records`);
    }
    await place.app.admin.get(`${place.app.path}/collections/notes/records`);
    const after = await usageOf(second.admin, second.path);
    expect(after.requests_24h).toBe(before.requests_24h + 6);
  });

  it('counts runs of hooks', async () => {
    const { admin, path } = second;
    expect((await usageOf(admin, path)).hook_runs_24h).toBe(0);
    const source =
      "routerAdd('GET', '/hello', () => ({ hello: 1 }));\nonRecordBeforeCreate('notes', () => {});";
    expect(expectOk(await admin.put(`${path}/hooks/a.ts`, { source })).reload.errors).toEqual([]);
    expectOk(await admin.get(`${path}/custom/hello`));
    expectOk(await admin.post(`${path}/collections/notes/records`, { title: 'x' }));
    expect((await usageOf(admin, path)).hook_runs_24h).toBe(2);
  });

  it('begins with nothing for an app with the id of a deleted one', async () => {
    const { own } = place;
    const id = 'again';
    const first = await own.app(id);
    expect((await usageOf(first.admin, first.path)).requests_24h).toBe(1);
    expectOk(await own.admin.delete(first.path));
    const later = await own.app(id);
    expect((await usageOf(later.admin, later.path)).requests_24h).toBe(1);
  });
});

describe('the usage of a workspace', () => {
  it('begins with nothing for one with the id of a deleted one', async () => {
    const { id, path, app, master } = await ownWorkspace();
    const { admin, path: appPath } = await app();
    expectOk(await admin.get(`${appPath}/collections`));
    expectOk(await master.delete(path));
    expectOk(await master.post('/api/workspaces', { id, name: 'Another' }));
    expect((await usageOf(master, path)).requests_24h).toBe(0);
  });

  it('is that of its apps together, and the size of its database', async () => {
    const { own, app } = place;
    const [one, two] = [await usageOf(own.admin, app.path), await usageOf(own.admin, second.path)];
    const all = await usageOf(own.admin, own.path);
    expect(all.records).toBe(one.records + two.records);
    expect(all.files).toBe(one.files + two.files);
    expect(all.file_bytes).toBe(one.file_bytes + two.file_bytes);
    expect(all.users).toBe(one.users);
    expect(all.requests_24h).toBeGreaterThanOrEqual(one.requests_24h + two.requests_24h);
    expect(all.database_bytes).toBeGreaterThan(one.database_bytes + two.database_bytes);
  });

  it('is shown to its admins only', async () => {
    const { own, app, user } = place;
    expectError(await app.admin.get(`${own.path}/usage`), 403, 'forbidden');
    expectError(await user.get(`${app.path}/usage`), 403, 'forbidden');
    expectError(await second.admin.get(`${app.path}/usage`), 403, 'forbidden');
  });
});
