// Finding 16 of the attack: tenants filled the disk, and PostgreSQL stopped for all. Here its reserve is more than it has.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chmod } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiResponse, as, type Caller, expectOk } from '../harness/api.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { logInMaster, makeShop, setUp } from '../harness/set-up.ts';

const reserve = 1_000_000_000;
const user = { email: 'ada@example.com', password: 'a password of Ada' };
const auth = '/api/workspaces/acme/auth/users';
const schema = { id: 'notes', kind: 'base', fields: [{ name: 'title', kind: 'text' }] };
let home: string;
let server: TestServer;
let master: Caller;
let app: string;
let records: string;
let ids: string[];
let file: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'bulkhead-reserve-'));
  await chmod(home, 0o711);
  server = await startServer({ dataDir: join(home, 'data') });
  master = await setUp(server.url);
  app = await makeShop(master);
  records = `${app}/collections/notes/records`;
  expectOk(await master.post(`${app}/collections`, { schema }));
  ids = [];
  for (const title of ['a', 'b', 'c']) ids.push(String(expectOk(await master.post(records, { title })).id));
  file = String(expectOk(await upload()).id);
  const source = "routerAdd('POST', '/write', () => $app.records.create('notes', {}));";
  expectOk(await master.put(`${app}/hooks/a.ts`, { source }));
  expectOk(await as(undefined, server.url).post(`${auth}/register`, user));
  await server.stop();
  server = await startServer({ dataDir: join(home, 'data'), config: { 'storage.reserve_mb': reserve } });
  master = await logInMaster(server.url);
}, 120_000);
afterAll(async () => {
  await server.stop();
  await rm(home, { recursive: true, force: true });
});

function upload(): Promise<ApiResponse> {
  return master.post(`${app}/files`, 'bytes', { 'Content-Type': 'application/octet-stream' });
}

it('what tenants write is refused with 503 and Retry-After, by whichever way it comes', async () => {
  const batch = [{ method: 'DELETE', collection: 'notes', id: ids[2] }, {
    method: 'POST',
    collection: 'notes',
    body: {},
  }];
  const writes: Record<string, ApiResponse> = {
    create: await master.post(records, { title: 'd' }),
    update: await master.patch(`${records}/${ids[0]}`, { title: 'd' }),
    batch: await master.post(`${app}/batch`, { requests: batch }),
    upload: await upload(),
    collection: await master.post(`${app}/collections`, { schema: { ...schema, id: 'more' } }),
    app: await master.post('/api/workspaces/acme/apps', { name: 'More' }),
    workspace: await master.post('/api/workspaces', { name: 'More' }),
    hook: await master.put(`${app}/hooks/b.ts`, { source: '' }),
    register: await as(undefined, server.url).post(`${auth}/register`, { ...user, email: 'bob@example.com' }),
  };
  for (const [name, { status, body, headers }] of Object.entries(writes)) {
    expect([name, status, body.code, headers.get('Retry-After')]).toEqual([name, 503, 'unavailable', '60']);
  }
  expect(writes['create']?.body.message).toBe('the disk of the server is almost full');
  // Hook code gets the error, and its route does not say more.
  expect((await master.post(`${app}/custom/write`, {})).status).toBe(500);
  expect(expectOk(await master.get(records)).total_items).toBe(3);
});

it('sign-in, reads, deletions and the audit log go on', async () => {
  const session = expectOk(await as(undefined, server.url).post(`${auth}/login`, user));
  const { refresh_token } = session;
  expectOk(
    await as(undefined, server.url).post('/api/workspaces/acme/auth/users/refresh', { refresh_token }),
  );
  expectOk(await master.get(`${records}/${ids[0]}`));
  expectOk(await master.delete(`${records}/${ids[0]}`));
  const batch = { requests: [{ method: 'DELETE', collection: 'notes', id: ids[1] }] };
  expectOk(await master.post(`${app}/batch`, batch));
  expectOk(await master.delete(`${app}/files/${file}`));
  expectOk(await master.delete(app));
  const { items } = expectOk(await master.get('/api/workspaces/acme/audit'));
  const actions = items.map(({ action }: { action: string }) => action);
  expect(actions).toEqual(expect.arrayContaining(['login_success', 'app_delete']));
});

it('the log says how much is free and how much should be', async () => {
  const line = JSON.parse(await server.line('disk_low'));
  expect(line).toMatchObject({ level: 'error', type: 'disk_low', reserve_mb: reserve });
  expect(line.free_mb).toBeLessThan(reserve);
});
