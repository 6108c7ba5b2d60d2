// Workspaces through HTTP.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { unlimitedPermits } from '../../storage/connections/permits.ts';
import { Pool } from '../../storage/connections/pool.ts';
import { as, type Caller, expectOk, master, type OwnWorkspace, ownWorkspace } from '../harness/api.ts';
import { provisionerEndpoint } from '../harness/database.ts';

let root: Caller;
let workspace: OwnWorkspace;
beforeAll(async () => {
  root = await master();
  workspace = await ownWorkspace();
});

const newId = () => `w${randomUUID().slice(0, 13)}`;
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const list = '/api/workspaces';

describe('creating a workspace', () => {
  it('returns it, and makes a v7 UUID when no id is given', async () => {
    const id = newId();
    const response = await root.post(list, { id, name: 'Acme' });
    expect(response.status).toBe(201);
    expect(response.body).toEqual({
      id,
      name: 'Acme',
      created_at: expect.stringMatching(timestamp),
      updated_at: response.body.created_at,
    });
    const other = await root.post(list, { name: 'Acme' });
    expect(other.body.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect((await root.get(`${list}/${id}`)).body).toEqual(response.body);
  });

  it('refuses a taken id and leaves the workspace as it is', async () => {
    const before = await root.get(workspace.path);
    const response = await root.post(list, { id: workspace.id, name: 'Other' });
    expect(response).toMatchObject({
      status: 409,
      body: { code: 'conflict', message: `workspace "${workspace.id}" already exists` },
    });
    expect((await root.get(workspace.path)).body).toEqual(before.body);
  });

  it('gives one of many parallel posts of an id the workspace', async () => {
    const id = newId();
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => root.post(list, { id, name: 'Race' })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
  });

  it('makes more than there are spares, at once', async () => {
    const responses = await Promise.all(Array.from({ length: 8 }, () => root.post(list, { name: 'Burst' })));
    expect(responses.map(({ status }) => status)).toEqual(Array(8).fill(201));
  });

  it.each([
    [{}, 'name: is required'],
    [{ name: '' }, 'name: must not be empty'],
    [{ name: 'x'.repeat(201) }, 'name: must have at most 200 characters'],
    [{ name: 7 }, 'name: must be a string'],
    [{ name: 'a\0b' }, 'the body contains a NUL character'],
    [{ name: 'x', owner: 'me' }, 'owner: unknown field'],
    [{ name: 'x', id: '' }, expect.stringContaining('id: must be 1 to 40 characters')],
    [{ name: 'x', id: 'A' }, expect.stringContaining('id: must be 1 to 40 characters')],
    [{ name: 'x', id: '-a' }, expect.stringContaining('id: must be 1 to 40 characters')],
    [{ name: 'x', id: 'a/b' }, expect.stringContaining('id: must be 1 to 40 characters')],
    [{ name: 'x', id: 'a\n' }, expect.stringContaining('id: must be 1 to 40 characters')],
    [{ name: 'x', id: 'a'.repeat(41) }, expect.stringContaining('id: must be 1 to 40 characters')],
  ])('refuses %j', async (body, message) => {
    expect(await root.post(list, body)).toMatchObject({ status: 400, body: { code: 'validation', message } });
  });

  it('takes a name of 200 characters of any kind', async () => {
    const name = '🏴'.repeat(200);
    expect((await root.post(list, { name })).body.name).toBe(name);
  });
});

describe('listing workspaces', () => {
  it('shows the master all, in pages', async () => {
    const { body } = await root.get(`${list}?per_page=1`);
    expect(body).toMatchObject({ page: 1, per_page: 1, total_pages: body.total_items });
    expect(body.items).toHaveLength(1);
    const second = await root.get(`${list}?per_page=1&page=2`);
    expect(second.body.items[0].id > body.items[0].id).toBe(true);
    const uncounted = await root.get(`${list}?skip_total=true`);
    expect(uncounted.body).toMatchObject({ page: 1, per_page: 30, total_items: -1, total_pages: -1 });
    expect((await root.get(`${list}?per_page=1000`)).body.per_page).toBe(200);
    expect((await root.get(`${list}?per_page=${'9'.repeat(30)}`)).body.per_page).toBe(200);
    expect((await root.get(`${list}?page=${'9'.repeat(30)}`)).body.items).toEqual([]);
    expect((await root.get(`${list}?page=999999999`)).body.items).toEqual([]);
  });

  it('shows another admin its own only', async () => {
    const app = await workspace.app();
    for (const admin of [workspace.admin, app.admin]) {
      const { body } = await admin.get(list);
      expect(body.items.map(({ id }: { id: string }) => id)).toEqual([workspace.id]);
      expect(body.total_items).toBe(1);
      expect((await admin.get(workspace.path)).body.id).toBe(workspace.id);
    }
  });

  it.each(['page=0', 'page=-1', 'page=x', 'per_page=0', 'per_page=1.5', 'skip_total=maybe'])(
    'refuses %s',
    async (query) => {
      expect(await root.get(`${list}?${query}`)).toMatchObject({ status: 400, body: { code: 'validation' } });
    },
  );
});

describe('renaming a workspace', () => {
  it('changes the name and nothing else, seen at once', async () => {
    const before = (await root.get(workspace.path)).body;
    const response = await root.patch(workspace.path, { name: 'Renamed' });
    expect(response).toMatchObject({
      status: 200,
      body: { ...before, name: 'Renamed', updated_at: expect.any(String) },
    });
    expect((await root.get(workspace.path)).body).toEqual(response.body);
  });

  it('refuses to change the id, and what does not exist', async () => {
    expect((await root.patch(workspace.path, { id: 'other' })).status).toBe(400);
    expect(await root.patch(`${list}/nowhere`, { name: 'x' })).toMatchObject({
      status: 404,
      body: { code: 'workspace_not_found' },
    });
  });
});

describe('deleting a workspace', () => {
  it('tenant.delete-complete: ends everything of it at once, and the same id begins anew', async () => {
    const own = await ownWorkspace();
    const app = await own.app('shop');
    const start = performance.now();
    expect(await root.delete(own.path)).toMatchObject({ status: 200, body: { ok: true } });
    console.log(`delete answered after ${(performance.now() - start).toFixed(1)} ms`);
    for (const path of [own.path, `${own.path}/apps`, app.path, `${own.path}/audit`]) {
      expect(await root.get(path)).toMatchObject({ status: 404, body: { code: 'workspace_not_found' } });
      expect((await own.admin.get(path)).status).toBe(401);
      expect((await app.admin.get(path)).status).toBe(401);
    }
    expect((await root.post(list, { id: own.id, name: 'Again' })).status).toBe(201);
    expect((await root.get(`${own.path}/apps`)).body.items).toEqual([]);
    expect((await root.get(`${own.path}/audit`)).body.items).toEqual([]);
    expect((await own.admin.get(own.path)).status).toBe(401);
    expect((await app.admin.get(own.path)).status).toBe(401);
    const login = { email: 'nobody@example.com', password: 'a password of the test' };
    expect((await as().post(`${own.path}/auth/admin/login`, login)).status).toBe(401);
  });

  it('tenant.delete-complete: drops the database and every role of it soon after', async () => {
    const own = await ownWorkspace();
    await own.app();
    const control = new Pool(provisionerEndpoint(), { cap: 1, permits: unlimitedPermits, now: Date.now });
    const [row] = await control.run((sql) =>
      sql`select database from control.workspaces where id = ${own.id}`
    );
    const database = String(row?.['database']);
    const left = () =>
      control.run((sql) =>
        sql`select datname::text as name from pg_database where datname = ${database}
          union all select rolname::text from pg_roles where rolname = ${database}
          union all select member::regrole::text from pg_auth_members join pg_roles on pg_roles.oid = roleid
            where rolname = ${database}
          union all select name from control.tenant_databases where name = ${database}`
      );
    expect((await left()).length).toBeGreaterThanOrEqual(4);
    expectOk(await root.delete(own.path));
    // PostgreSQL drops one database after another, each behind a checkpoint, and other tests delete workspaces, too.
    await expect.poll(async () => (await left()).length, { timeout: 90_000 }).toBe(0);
    await control.end();
  }, 120_000);

  it('responds with 404 for a missing one, without side effect', async () => {
    const gone = expectOk(await root.post(list, { name: 'Gone' })).id;
    expect((await root.delete(`${list}/${gone}`)).status).toBe(200);
    expect(await root.delete(`${list}/${gone}`)).toMatchObject({
      status: 404,
      body: { code: 'workspace_not_found' },
    });
    for (const id of ['nowhere', '%00', 'A', 'a'.repeat(300), '%2e%2e']) {
      expect((await root.delete(`${list}/${id}`)).status).toBe(404);
    }
  });

  it('ends requests under way with a response, never with an internal error', async () => {
    const own = await ownWorkspace();
    const app = await own.app();
    const busy = Array.from(
      { length: 20 },
      (_, at) =>
        at % 2 === 0
          ? app.admin.get(`${app.path}/audit`)
          : own.admin.post(`${own.path}/apps`, { name: 'late' }),
    );
    const gone = root.delete(own.path);
    const statuses = (await Promise.all(busy)).map(({ status }) => status);
    expect((await gone).status).toBe(200);
    for (const status of statuses) expect([200, 201, 401, 404, 503]).toContain(status);
  });
});

describe('creating a workspace, up to its first record', () => {
  it('takes milliseconds with a spare ready', async () => {
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      // Spares are refilled a moment after one was taken; a person takes longer than that between two workspaces.
      await pause(600);
      const start = performance.now();
      const { id } = expectOk(await root.post(list, { name: 'Timed' }));
      expectOk(await root.post(`${list}/${id}/apps`, { id: 'shop', name: 'Shop' }));
      const schema = { id: 'orders', kind: 'base', fields: [{ name: 'title', kind: 'text' }] };
      const app = `${list}/${id}/apps/shop`;
      expectOk(await root.post(`${app}/collections`, { schema }));
      expectOk(await root.post(`${app}/collections/orders/records`, { title: 'first' }));
      times.push(performance.now() - start);
    }
    times.sort((a, b) => a - b);
    console.log(`workspace, app, collection, record: ${times.map((time) => time.toFixed(0)).join(' ')} ms`);
    expect(times[2]).toBeLessThan(1_000);
  });
});
