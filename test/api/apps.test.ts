// Apps through HTTP.
import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk, type OwnApp, type OwnWorkspace, ownWorkspace } from '../harness/api.ts';

let workspace: OwnWorkspace;
let shop: OwnApp;
let apps: string;
beforeAll(async () => {
  workspace = await ownWorkspace();
  shop = await workspace.app('shop');
  apps = `${workspace.path}/apps`;
});

describe('creating an app', () => {
  it('returns it, and makes a v7 UUID when no id is given', async () => {
    const response = await workspace.admin.post(apps, { id: 'blog', name: 'Blog' });
    expect(response.status).toBe(201);
    expect(response.body).toEqual({
      id: 'blog',
      workspace: workspace.id,
      name: 'Blog',
      created_at: expect.stringMatching(/Z$/),
      updated_at: response.body.created_at,
    });
    expect((await workspace.admin.get(`${apps}/blog`)).body).toEqual(response.body);
    const other = await workspace.master.post(apps, { name: 'Unnamed' });
    expect(other.body.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });

  it('refuses a taken id, also to many requests at once, and leaves the app as it is', async () => {
    const before = (await workspace.admin.get(shop.path)).body;
    expect(await workspace.admin.post(apps, { id: 'shop', name: 'Other' })).toMatchObject({
      status: 409,
      body: { code: 'conflict', message: 'app "shop" already exists' },
    });
    expect((await workspace.admin.get(shop.path)).body).toEqual(before);
    const race = Array.from({ length: 8 }, () => workspace.admin.post(apps, { id: 'race', name: 'Race' }));
    const statuses = (await Promise.all(race)).map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array(7).fill(409)]);
  });

  it('is open to another workspace under the same id', async () => {
    const other = await ownWorkspace();
    expect((await other.admin.post(`${other.path}/apps`, { id: 'shop', name: 'Theirs' })).status).toBe(201);
    expect((await workspace.admin.get(shop.path)).body.name).toBe('An app');
  });

  it.each([[{}], [{ name: '' }], [{ name: 'x', id: 'Shop' }], [{ name: 'x', kind: 'y' }], [{ name: null }]])(
    'refuses %j',
    async (body) => {
      expect(await workspace.admin.post(apps, body)).toMatchObject({
        status: 400,
        body: { code: 'validation' },
      });
    },
  );
});

describe('listing apps', () => {
  it('shows an app admin its own only', async () => {
    const { body } = await shop.admin.get(apps);
    expect(body).toMatchObject({ total_items: 1, total_pages: 1 });
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual(['shop']);
    const all = await workspace.admin.get(`${apps}?per_page=200`);
    expect(all.body.total_items).toBeGreaterThan(1);
    expect(all.body.items.length).toBe(all.body.total_items);
  });
});

describe('renaming an app', () => {
  it('is seen at once, and refused to an app admin', async () => {
    const response = await workspace.admin.patch(shop.path, { name: 'New name' });
    expect(response).toMatchObject({ status: 200, body: { id: 'shop', name: 'New name' } });
    expect((await shop.admin.get(shop.path)).body).toEqual(response.body);
    expect((await shop.admin.patch(shop.path, { name: 'x' })).status).toBe(403);
    expect(await workspace.admin.patch(`${apps}/nowhere`, { name: 'x' })).toMatchObject({
      status: 404,
      body: { code: 'app_not_found' },
    });
  });
});

describe('deleting an app', () => {
  it('takes its rights and data along, so that a later app of the same id has neither', async () => {
    const gone = await workspace.app('gone');
    const kept = await workspace.app('kept');
    const two = await workspace.login(['gone', 'kept']);
    const schema = { id: 'notes', kind: 'base', fields: [{ name: 'title', kind: 'text' }] };
    expectOk(await gone.admin.post(`${gone.path}/collections`, { schema }));
    expect(await workspace.admin.delete(gone.path)).toMatchObject({ status: 200, body: { ok: true } });
    expect(await workspace.admin.get(gone.path)).toMatchObject({
      status: 404,
      body: { code: 'app_not_found' },
    });
    expect(await workspace.admin.delete(gone.path)).toMatchObject({
      status: 404,
      body: { code: 'app_not_found' },
    });
    expectOk(await workspace.admin.post(apps, { id: 'gone', name: 'Again' }));
    expect((await workspace.admin.get(`${gone.path}/collections`)).body.items).toEqual([]);
    expect((await workspace.admin.get(`${gone.path}/audit`)).body.items).toEqual([]);
    expect([401, 403]).toContain((await gone.admin.get(gone.path)).status);
    expect([401, 403]).toContain((await two.get(gone.path)).status);
    expect((await two.get(kept.path)).status).toBe(200);
    expect((await kept.admin.get(kept.path)).status).toBe(200);
  });

  it('works while the app is in use', async () => {
    const busy = await workspace.app();
    const reads = Array.from({ length: 20 }, () => busy.admin.get(`${busy.path}/collections`));
    const [deleted, ...responses] = await Promise.all([workspace.admin.delete(busy.path), ...reads]);
    expect(deleted.status).toBe(200);
    for (const { status } of responses) expect([200, 401, 403, 404, 503]).toContain(status);
  });
});

describe('an app of the same id in another workspace', () => {
  it('tenant.id-swap: comes, is changed and goes without a trace in one’s own', async () => {
    const { admin, path } = await workspace.app('twin');
    const other = await ownWorkspace();
    const theirs = `${other.path}/apps/twin`;
    const bound = { kind: 'range', min: 1, max: 4_000 };
    const fill = async (caller: Caller, at: string) => {
      const fields = [{ name: 'title', kind: 'text' }];
      expectOk(await caller.post(`${at}/collections`, { schema: { id: 'notes', kind: 'base', fields } }));
      expectOk(await caller.post(`${at}/collections/notes/records`, { title: at }));
      expectOk(await caller.put(`${at}/policies/hooks.timeout_ms`, bound));
      expectOk(await caller.put(`${at}/hooks/env/KEY`, { value: at }));
      expectOk(
        await caller.put(`${at}/hooks/key.js`, { source: `routerAdd('GET', '/key', () => $app.env.KEY);` }),
      );
    };
    await fill(admin, path);
    const ends = ['', '/policies', '/collections/notes/records', '/hooks', '/hooks/env', '/custom/key'];
    const all = async () => {
      // Makes the server read the cached policies of the workspace again.
      expectOk(await workspace.admin.put(`${workspace.path}/policies/anything.else`, { kind: 'free' }));
      return [
        ...await Promise.all(ends.map(async (end) => expectOk(await admin.get(path + end)))),
        expectOk(await workspace.master.get(`${workspace.path}/admins?per_page=200`)).items,
      ];
    };
    const before = await all();
    const steps = [
      () => other.app('twin'),
      () => fill(other.admin, theirs),
      async () => expectOk(await other.admin.delete(`${theirs}/policies/hooks.timeout_ms`)),
      async () => expectOk(await other.admin.delete(`${theirs}/hooks/key.js`)),
      async () => expectOk(await other.admin.delete(theirs)),
      () => other.app('twin'),
      async () => expectOk(await other.master.delete(other.path)),
    ];
    for (const step of steps) {
      await step();
      expect(await all(), String(step)).toEqual(before);
    }
  });
});
