// What the log says of answers that are written past the pipeline: with the status that the client got.
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
    const answer = await fetch(`${url}/${id}`, {
      headers: { ...headers, authorization, 'X-Request-Id': requestId },
    });
    await answer.arrayBuffer();
    expect(answer.status).toBe(status);
    expect(JSON.parse(await server.line(`"request_id":"${requestId}"`))).toMatchObject({ status });
  }
});
