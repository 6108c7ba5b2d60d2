// The audit logs through HTTP: their entries, and who may read them.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnApp, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';

let workspace: OwnWorkspace;
let admin: Awaited<ReturnType<OwnWorkspace['login']>>;
let app: OwnApp;
let log: string;
beforeAll(async () => {
  workspace = await ownWorkspace();
  admin = await workspace.login();
  app = await workspace.app('shop');
  expectOk(await admin.post(`${workspace.path}/apps`, { id: 'blog', name: 'A blog' }));
  log = `${workspace.path}/audit`;
});

interface Entry {
  id: string;
  ts: string;
  actor: string;
  action: string;
  target: string;
  details: Record<string, unknown>;
}

const system = '/api/system/audit';
const entries = async (path: string, caller = workspace.master): Promise<Entry[]> =>
  expectOk(await caller.get(path)).items;
const actions = (list: Entry[]) => list.map(({ action }) => action);

describe('the system scope', () => {
  it('has an entry for each workspace, with its creator', async () => {
    const [entry] = (await entries(`${system}?action=workspace_create&per_page=200`))
      .filter(({ target }) => target === workspace.id);
    expect(entry).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      actor: 'admin',
      action: 'workspace_create',
      target: workspace.id,
      details: { name: 'A test', request_id: expect.any(String), ip: '127.0.0.1', user_agent: 'node' },
    });
  });

  it('carries the id of the request', async () => {
    const headers = { 'X-Request-Id': `req-${workspace.id}` };
    const renamed = expectOk(await workspace.master.patch(workspace.path, { name: 'Named' }, headers));
    const [entry] = (await entries(`${system}?action=workspace_update&per_page=200`))
      .filter(({ target }) => target === renamed.id);
    expect(entry?.details['request_id']).toBe(`req-${workspace.id}`);
    expectOk(await admin.post(`${workspace.path}/apps`, { id: 'traced', name: 'A test' }, headers));
    expectOk(
      await admin.post(
        `${workspace.path}/apps/traced/collections`,
        { schema: { id: 'a', fields: [] } },
        headers,
      ),
    );
    const inApp = await entries(`${workspace.path}/apps/traced/audit`, admin);
    const inWorkspace = await entries(`${log}?action=app_create`, admin);
    expect([inApp[0], inWorkspace[0]].map((found) => found?.details['request_id'])).toEqual([
      headers['X-Request-Id'],
      headers['X-Request-Id'],
    ]);
  });

  it('survives the workspace', async () => {
    const gone = await ownWorkspace();
    expectOk(await gone.master.patch(gone.path, { name: 'Renamed' }));
    expectOk(await gone.master.delete(gone.path));
    const about = (await entries(`${system}?action=WORKSPACE_&per_page=200`)).filter(({ target }) =>
      target === gone.id
    );
    expect(actions(about)).toEqual(['workspace_delete', 'workspace_update', 'workspace_create']);
  });
});

describe('the workspace scope', () => {
  it('holds entries of the workspace and its apps, the app scope those of the app', async () => {
    const schema = { id: 'notes', kind: 'base', fields: [{ name: 'title', kind: 'text' }] };
    expectOk(await app.admin.post(`${app.path}/collections`, { schema }));
    const inApp = await entries(`${app.path}/audit`, app.admin);
    expect(actions(inApp)).toEqual(['collection_create']);
    const inWorkspace = await entries(`${log}?per_page=200`, workspace.admin);
    expect(inWorkspace[0]).toEqual(inApp[0]);
    expect(actions(inWorkspace)).toContain('app_create');
    expect(inWorkspace.find(({ target }) => target === 'blog')).toMatchObject({
      actor: admin.email,
      action: 'app_create',
      details: { name: 'A blog' },
    });
    const own = new Set(inWorkspace.map(({ id }) => id));
    const systemEntries = await entries(`${system}?per_page=200`);
    expect(systemEntries.filter(({ id }) => own.has(id))).toEqual([]);
  });

  it('holds no entry of a change that failed', async () => {
    const before = await entries(log);
    expect((await workspace.admin.post(`${workspace.path}/apps`, { id: 'shop', name: 'Again' })).status).toBe(
      409,
    );
    expect((await workspace.admin.delete(`${workspace.path}/apps/nowhere`)).status).toBe(404);
    expect(await entries(log)).toEqual(before);
  });

  it('is paged, newest first', async () => {
    for (let round = 0; round < 3; round++) {
      expectOk(await workspace.admin.patch(app.path, { name: `Name ${round}` }));
    }
    const all = await entries(`${log}?per_page=200`);
    const ids = all.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort().reverse());
    const second = expectOk(await workspace.admin.get(`${log}?per_page=2&page=2`));
    expect(second.items).toEqual(all.slice(2, 4));
    expect(second).toMatchObject({ page: 2, per_page: 2, total_items: all.length });
    expect(second.total_pages).toBe(Math.ceil(all.length / 2));
    expect(expectOk(await workspace.admin.get(`${log}?skip_total=true`)).total_items).toBe(-1);
  });

  it('filter.like-escape: filters by part of the action in any case, literally, and by the whole actor', async () => {
    const found = await entries(`${log}?action=PP_UPD`);
    expect(found.length).toBeGreaterThan(0);
    expect(new Set(actions(found))).toEqual(new Set(['app_update']));
    for (const literal of ['%25', 'app%25update', '.*', 'app.update', '%5c']) {
      expect(await entries(`${log}?action=${literal}`)).toEqual([]);
    }
    const mine = await entries(`${log}?actor=${admin.email}&per_page=200`);
    expect(new Set(mine.map(({ actor }) => actor))).toEqual(new Set([admin.email]));
    expect(await entries(`${log}?actor=${admin.email.slice(0, -1)}`)).toEqual([]);
    expect(await entries(`${log}?action=&actor=`)).toEqual(await entries(log));
    expect((await workspace.admin.get(`${log}?action=%00`)).status).toBe(400);
  });
});

describe('audit.integrity', () => {
  it('escapes control characters', async () => {
    const name = 'line\none \u001b[31mred \u202eturned\u061c';
    expectOk(await workspace.admin.patch(app.path, { name }));
    const [entry] = await entries(log);
    expect(entry?.details['name']).toBe('line\\u000aone \\u001b[31mred \\u202eturned\\u061c');
    expect((await workspace.admin.get(app.path)).body.name).toBe(name);
  });

  it('refuses callers below its scope, and has no route to write or delete', async () => {
    expect((await app.admin.get(log)).status).toBe(403);
    expect((await workspace.admin.get(system)).status).toBe(403);
    expect((await as().get(log)).status).toBe(401);
    for (const path of [system, log, `${app.path}/audit`]) {
      expect((await workspace.master.delete(path)).status).toBe(405);
      expect((await workspace.master.post(path, {})).status).toBe(405);
    }
  });

  it('holds no password and no token', async () => {
    const text = JSON.stringify([
      await entries(`${system}?per_page=200`),
      await entries(`${log}?per_page=200`),
    ]);
    expect(text).not.toContain(admin.password);
    expect(text).not.toMatch(/argon2|rfsh_|eyJ[A-Za-z0-9_-]{20}/);
  });
});
