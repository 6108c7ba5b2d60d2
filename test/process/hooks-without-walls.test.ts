// A server that requires a wall which the machine does not have: no hook runs, and nothing passes for want of one.
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../harness/api.ts';
import { type ServerOptions, startServer, type TestServer } from '../harness/server.ts';
import { logInMaster } from '../harness/set-up.ts';
import { openStorefront, unlimited } from '../harness/storefront.ts';

const app = '/api/workspaces/acme/apps/shop';
const source = `
  onRecordBeforeCreate('orders', (e) => { if (e.record.fields.title === 'bad') throw new Error('no'); });
  routerAdd('GET', '/hello', () => ({ hello: 'you' }));`;
const servers: TestServer[] = [];

afterAll(async () => {
  await servers.at(-1)?.stop();
  const [first] = servers;
  if (first !== undefined) await rm(dirname(first.dataDir), { recursive: true, force: true });
});

async function start(options: ServerOptions): Promise<TestServer> {
  await servers.at(-1)?.stop();
  const [first] = servers;
  const where = first === undefined ? {} : { dataDir: first.dataDir };
  const server = await startServer({ keep: true, ...where, config: unlimited, ...options });
  servers.push(server);
  return server;
}

/** A search path with all that this machine has but bubblewrap. */
async function poorPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bulkhead-path-'));
  for (const place of ['/usr/sbin', '/usr/bin']) {
    for (const name of await readdir(place)) {
      if (name !== 'bwrap') await symlink(join(place, name), join(folder, name)).catch(ignoreSecond);
    }
  }
  return folder;
}

function ignoreSecond(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

it('hook.veto-fail-closed: refuses what a hook would be asked about, and lets through what no hook concerns', async () => {
  const path = await poorPath();
  const server = await start({ path, config: { ...unlimited, hooks: { sandbox: 'os' } } });
  try {
    const { master, records } = await openStorefront(server.url);
    const anyone: Caller = as(undefined, server.url);
    expect(await server.line('hooks are off')).toContain(
      'no os level: bwrap is not installed (package bubblewrap)',
    );
    expect(expectOk(await anyone.get('/readyz')).sandbox).toBe('none');
    const { items: [entry] } = expectOk(await master.get('/api/system/audit?action=sandbox_set'));
    expect(entry.details).toMatchObject({
      level: 'none',
      why: expect.stringContaining('bwrap is not installed'),
    });

    expectOk(await master.post(records, { title: 'before there were hooks' }));
    const put = expectOk(await master.put(`${app}/hooks/a.js`, { source }));
    expect(put.reload.loaded).toEqual([]);
    expect(put.reload.errors).toEqual([
      { file: 'a.js', message: expect.stringContaining('bwrap is not installed'), line: null, column: null },
    ]);
    for (const title of ['good', 'bad']) {
      const { status, body } = await master.post(records, { title });
      expect({ status, code: body.code }).toEqual({ status: 503, code: 'hook_unavailable' });
    }
    const route = await anyone.get(`${app}/custom/hello`);
    expect({ status: route.status, code: route.body.code }).toEqual({
      status: 503,
      code: 'hook_unavailable',
    });
    expect(expectOk(await master.get(records)).total_items).toBe(1);

    const other = '/api/workspaces/acme/apps/other';
    const schema = { id: 'orders', kind: 'base', fields: [{ name: 'title', kind: 'text' }] };
    expectOk(await master.post('/api/workspaces/acme/apps', { id: 'other', name: 'Other' }));
    expectOk(await master.post(`${other}/collections`, { schema }));
    expectOk(await master.post(`${other}/collections/orders/records`, { title: 'good' }));
  } finally {
    await rm(path, { recursive: true });
  }
});

it('hook.veto-fail-closed: asks the hooks as soon as there is a wall', async () => {
  const server = await start({ config: { ...unlimited, hooks: { sandbox: 'auto' } } });
  const master = await logInMaster(server.url);
  const records = `${app}/collections/orders/records`;
  expectOk(await master.post(records, { title: 'good' }));
  expect((await master.post(records, { title: 'bad' })).body.code).toBe('hook_veto');
  expect(expectOk(await master.get(`${app}/custom/hello`))).toEqual({ hello: 'you' });
});
