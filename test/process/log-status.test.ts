// What the log says of responses that are written past the pipeline: with the status that the client got.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Caller, expectOk } from '../harness/api.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, unlimited } from '../harness/storefront.ts';

const app = '/api/workspaces/acme/apps/logged';
const source = `
  routerAdd('GET', '/teapot', () => new Response('short', { status: 418 }));
  routerAdd('GET', '/own', () => { throw new HttpError(409, 'taken', 'somebody has it'); });
  routerAdd('GET', '/stream', () => new Response(new Blob(['x']).stream(), { status: 203 }));`;

let server: TestServer;
let admin: Caller;

beforeAll(async () => {
  server = await startServer({ config: unlimited });
  admin = (await openStorefront(server.url)).master;
  expectOk(await admin.post('/api/workspaces/acme/apps', { id: 'logged', name: 'Logged' }));
  expectOk(await admin.put(`${app}/hooks/routes.js`, { source }));
});
afterAll(() => server.stop());

it.each([
  ['/custom/teapot', 418],
  ['/custom/own', 409],
  ['/custom/stream', 203],
  ['/custom/none', 404],
  ['/hooks/types', 200],
])('logs %s with %d', async (path, status) => {
  const id = `status-${status}`;
  expect((await admin.get(`${app}${path}`, { 'X-Request-Id': id })).status).toBe(status);
  expect(JSON.parse(await server.line(`"request_id":"${id}"`))).toMatchObject({
    type: 'request_done',
    status,
  });
});

it('logs files that have not changed, and parts of them', async () => {
  const url = `${server.url}${app}/files`;
  const authorization = `Bearer ${admin.token}`;
  const sent = await fetch(url, { method: 'POST', headers: { authorization }, body: 'some bytes' });
  const { id } = JSON.parse(await sent.text());
  const asked = [[{ 'If-None-Match': `"${id}"` }, 304], [{ Range: 'bytes=0-3' }, 206]] as const;
  for (const [headers, status] of asked) {
    const requestId = `file-${status}`;
    const response = await fetch(`${url}/${id}`, {
      headers: { ...headers, authorization, 'X-Request-Id': requestId },
    });
    await response.arrayBuffer();
    expect(response.status).toBe(status);
    expect(JSON.parse(await server.line(`"request_id":"${requestId}"`))).toMatchObject({ status });
  }
});

it.each(['a request', 'a hook'])(
  'says which quota of which workspace is used up, when %s is refused',
  async (who) => {
    const id = who === 'a hook' ? 'hooked' : 'asked';
    const workspace = `/api/workspaces/${id}`;
    const shop = `${workspace}/apps/shop`;
    expectOk(await admin.post('/api/workspaces', { id, name: 'A workspace' }));
    expectOk(await admin.post(`${workspace}/apps`, { id: 'shop', name: 'A shop' }));
    const schema = { id: 'notes', kind: 'base', fields: [] };
    expectOk(await admin.post(`${shop}/collections`, { schema }));
    expectOk(await admin.put(`${workspace}/policies/quota.records`, { kind: 'range', min: 0, max: 0 }));
    const hook = `routerAdd('POST', '/write', () => $app.records.create('notes', {}));`;
    expectOk(await admin.put(`${shop}/hooks/write.js`, { source: hook }));
    const path = who === 'a hook' ? '/custom/write' : '/collections/notes/records';
    expect((await admin.post(shop + path, {})).status).not.toBe(201);
    const line = JSON.parse(await server.line(`"share_spent","share":"quota.records","workspace":"${id}"`));
    expect(line).toMatchObject({ level: 'warn', type: 'share_spent' });
  },
);

it('says that a list needs more temporary files than its workspace may have', async () => {
  const workspace = '/api/workspaces/sorting';
  const shop = `${workspace}/apps/shop`;
  expectOk(await admin.post('/api/workspaces', { id: 'sorting', name: 'A workspace' }));
  expectOk(await admin.post(`${workspace}/apps`, { id: 'shop', name: 'A shop' }));
  const schema = { id: 'notes', kind: 'base', fields: [{ name: 'title', kind: 'text' }] };
  expectOk(await admin.post(`${shop}/collections`, { schema }));
  for (let batch = 0; batch < 16; batch++) {
    const requests = Array.from({ length: 100 }, () => ({
      ...{ method: 'POST', collection: 'notes' },
      body: { title: randomBytes(700).toString('hex') },
    }));
    expectOk(await admin.post(`${shop}/batch`, { requests }));
  }
  for (const policy of ['work_mem_mb', 'temp_file_mb']) {
    const path = `${workspace}/policies/database.${policy}`;
    expectOk(await admin.put(path, { kind: 'range', min: 1, max: 1 }));
  }
  const last = `${shop}/collections/notes/records?sort=-title&per_page=200&page=8`;
  await expect.poll(async () => (await admin.get(last)).status).toBe(503);
  expect(JSON.parse(await server.line(`"share_spent","share":"database.temp_file_mb","workspace":"sorting"`)))
    .toMatchObject({ level: 'warn' });
});
