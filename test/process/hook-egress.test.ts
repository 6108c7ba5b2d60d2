// Requests that hooks send, on a server whose master has opened the way.
import { createServer, type Server } from 'node:http';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../harness/api.ts';
import { startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, unlimited } from '../harness/storefront.ts';

const app = '/api/workspaces/acme/apps/caller';
const asked: { url: string | undefined; headers: Record<string, unknown> }[] = [];
const codings: Readonly<Record<string, readonly [coding: string, body: Buffer]>> = {
  '/gzip': ['gzip', gzipSync('squeezed')],
  '/x-gzip': ['x-gzip', gzipSync('squeezed')],
  '/identity': ['identity, gzip', gzipSync('squeezed')],
  '/empty': ['gzip', Buffer.alloc(0)],
  '/br': ['br', brotliCompressSync('squeezed')],
  '/deflate': ['deflate', deflateSync('squeezed')],
  '/raw': ['deflate', deflateRawSync('squeezed')],
  '/twice': ['br, GZIP', gzipSync(brotliCompressSync('squeezed'))],
  '/unknown': ['rot13', Buffer.from('fdhrrmrq')],
  '/broken': ['gzip', Buffer.from('no gzip')],
  '/five': ['gzip,gzip,gzip,gzip,gzip', squeezed(5)],
  '/six': ['gzip,gzip,gzip,gzip,gzip,gzip', squeezed(6)],
  '/zstd': ['zstd', zstandard(23)],
  '/wide': ['zstd', zstandard(24)],
  '/bomb': ['gzip', gzipSync(Buffer.alloc(2 ** 20 + 1))],
};

/** A frame of one raw block that wants a window of so many bits (RFC 8878 section 3.1.1). */
function zstandard(bits: number): Buffer {
  const text = Buffer.from('squeezed');
  return Buffer.concat([
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, (bits - 10) << 3, text.length << 3 | 1, 0, 0]),
    text,
  ]);
}

/** So many times over. */
function squeezed(times: number): Buffer {
  return times === 0 ? Buffer.from('squeezed') : gzipSync(squeezed(times - 1));
}

/** Until the other side has given up. */
const silence = Promise.withResolvers<void>();

let server: TestServer;
let admin: Caller;
let target: Server;
let host: string;

beforeAll(async () => {
  server = await startServer({ config: { ...unlimited, egress: { private_hosts: 'loopback' } } });
  admin = (await openStorefront(server.url)).master;
  target = createServer(({ url, headers, method }, response) => {
    asked.push({ url, headers });
    if (url === '/away') response.writeHead(302, { Location: 'http://127.0.0.1:1/' });
    if (url === '/moved') response.writeHead(302, { Location: '/here' });
    if (url === '/same') response.writeHead(304);
    if (url === '/gone') response.writeHead(410, 'Gone for good');
    if (url === '/odd') response.writeHead(999);
    if (url === '/silent') return void response.once('close', silence.resolve);
    if (url === '/long') return void response.end(Buffer.alloc(2 ** 20 + 1));
    if (url === '/late') return void setTimeout(() => response.end('late'), 200);
    const [coding, body] = codings[url ?? ''] ?? [];
    if (coding !== undefined) response.setHeader('Content-Encoding', coding);
    response.end(body ?? method);
  });
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  const address = target.address();
  if (address === null || typeof address === 'string') throw new Error('the target does not listen');
  host = `127.0.0.1:${address.port}`;
  expectOk(await admin.post('/api/workspaces/acme/apps', { id: 'caller', name: 'Caller' }));
  const source = `routerAdd('POST', '/fetch', async (e) => {
    const { url, ...init } = await e.request.json();
    try {
      const answer = await fetch(url, init);
      return { status: answer.status, reason: answer.statusText, body: await answer.text() };
    } catch (error) { return { error: error.message }; }
  });
  routerAdd('GET', '/pass', (e) => fetch(e.query.url));
  routerAdd('GET', '/stream', (e) => {
    const text = new TextEncoder();
    let piece = 0;
    return new Response(new ReadableStream({ async pull(controller) {
      if (piece++ === 0) return controller.enqueue(text.encode('begun '));
      await new Promise((resolve) => setTimeout(resolve, 2_100));
      controller.enqueue(text.encode(await (await fetch(e.query.url)).text()));
      controller.close();
    } }));
  });
  routerAdd('GET', '/head', async (e) => {
    const { url, redirected, headers } = await fetch(e.query.url);
    return { url, redirected, type: headers.get('content-type'), coding: headers.get('content-encoding') };
  });`;
  expectOk(await admin.put(`${app}/hooks/caller.js`, { source }));
});
afterAll(async () => {
  await new Promise((resolve) => target.close(resolve));
  await server.stop();
});

async function fetchInHook(
  url: string,
  init = {},
): Promise<{ status?: number; reason?: string; body?: string; error?: string }> {
  return expectOk(await as(undefined, server.url).post(`${app}/custom/fetch`, { url, ...init }));
}

it('hook.egress: fetch reaches a host that policy hooks.egress names, and no other', async () => {
  expect((await fetchInHook(`http://${host}/`)).error).toContain('hooks.egress');
  expect(asked).toEqual([]);
  const policy = { kind: 'enum_set', allowed: [host] };
  expectOk(await admin.put('/api/system/policies/hooks.egress', policy));
  // What the system names is a bound, and opens nothing.
  expect((await fetchInHook(`http://${host}/`)).error).toContain('hooks.egress');
  expect(asked).toEqual([]);
  expectOk(await admin.put(`${app}/policies/hooks.egress`, policy));
  expect(await fetchInHook(`http://${host}/own`)).toMatchObject({ status: 200 });
  expectOk(await admin.delete(`${app}/policies/hooks.egress`));
  expect((await fetchInHook(`http://${host}/`)).error).toContain('hooks.egress');
  expectOk(await admin.put('/api/workspaces/acme/policies/hooks.egress', policy));
  expect(asked.splice(0)).toHaveLength(1);
  const init = { method: 'POST', body: 'x', headers: { 'x-own': '1' } };
  expect(await fetchInHook(`http://${host}/ok`, init)).toEqual({ status: 200, reason: 'OK', body: 'POST' });
  expect(asked).toEqual([{ url: '/ok', headers: expect.objectContaining({ 'x-own': '1', host }) }]);
  for (const name of ['authorization', 'cookie']) expect(asked[0]?.headers).not.toHaveProperty(name);
  for (const other of ['http://127.0.0.1:1/', `http://localhost:${host.split(':')[1]}/`]) {
    expect((await fetchInHook(other)).error).toContain('hooks.egress');
  }
  expect(await fetchInHook(`http://${host}/away`)).toEqual({ error: expect.any(String) });
  expect(asked.map(({ url }) => url)).toEqual(['/ok', '/away']);
});

it('shows what was compressed as it was before, within the bound of all responses', async () => {
  const paths = ['/gzip', '/x-gzip', '/identity', '/br', '/deflate', '/raw', '/twice', '/five', '/zstd'];
  for (const path of paths) {
    expect([path, await fetchInHook(`http://${host}${path}`)]).toEqual([path, {
      status: 200,
      reason: 'OK',
      body: 'squeezed',
    }]);
  }
  const plain = { status: 200, reason: 'OK' };
  expect(await fetchInHook(`http://${host}/empty`)).toEqual({ ...plain, body: '' });
  expect(await fetchInHook(`http://${host}/unknown`)).toEqual({ ...plain, body: 'fdhrrmrq' });
  expect((await fetchInHook(`http://${host}/broken`)).error).toContain('Content-Encoding');
  expect((await fetchInHook(`http://${host}/six`)).error).toContain('more than 5 content codings');
  expect((await fetchInHook(`http://${host}/wide`)).error).toContain('Content-Encoding');
  expect((await fetchInHook(`http://${host}/bomb`)).error).toContain('longer than 1048576 bytes');
  const passed = await fetch(`${server.url}${app}/custom/pass?url=http://${host}/gzip`);
  expect([passed.headers.get('content-encoding'), await passed.text()]).toEqual([null, 'squeezed']);
});

it('names what has answered, and no type that it did not say', async () => {
  const head = async (path: string) =>
    expectOk(await as(undefined, server.url).get(`${app}/custom/head?url=http://${host}${path}`));
  const nothing = { type: null, coding: null };
  expect(await head('/moved')).toEqual({ url: `http://${host}/here`, redirected: true, ...nothing });
  expect(await head('/here')).toEqual({ url: `http://${host}/here`, redirected: false, ...nothing });
  expect(await head('/unknown')).toMatchObject({ coding: 'rot13' });
});

it('names a client to who asks for one, unless the hook does', async () => {
  asked.length = 0;
  await fetchInHook(`http://${host}/plain`);
  await fetchInHook(`http://${host}/own`, { headers: { 'User-Agent': 'shop', accept: 'text/csv' } });
  expect(asked.map(({ headers }) => [headers['user-agent'], headers['accept']])).toEqual([
    ['bulkhead', '*/*'],
    ['shop', 'text/csv'],
  ]);
});

it('says what the host gave as a reason, and that a status is none', async () => {
  const gone = { status: 410, reason: 'Gone for good', body: 'GET' };
  expect(await fetchInHook(`http://${host}/gone`)).toEqual(gone);
  expect((await fetchInHook(`http://${host}/odd`)).error).toBe('fetch: the host responded with status 999');
});

it('follows a redirect, shows it or fails, as it is asked to', async () => {
  const moved = `http://${host}/moved`;
  expect(await fetchInHook(moved)).toEqual({ status: 200, reason: 'OK', body: 'GET' });
  expect(await fetchInHook(moved, { redirect: 'manual' })).toEqual({
    status: 302,
    reason: 'Found',
    body: 'GET',
  });
  expect((await fetchInHook(moved, { redirect: 'error' })).error).toContain('redirects');
  expect(await fetchInHook(`http://${host}/here`, { redirect: 'error' })).toEqual({
    status: 200,
    reason: 'OK',
    body: 'GET',
  });
  // Of the 300s, but a response like others (https://fetch.spec.whatwg.org/#redirect-status).
  const same = await fetchInHook(`http://${host}/same`, { redirect: 'error' });
  expect(same).toEqual({ status: 304, reason: 'Not Modified', body: '' });
});

it('has the time of a response that streams, which is more than that of a call', async () => {
  const policy = `${app}/policies/hooks.timeout_ms`;
  expectOk(await admin.put(policy, { kind: 'range', min: 1, max: 2_000 }));
  const streamed = await fetch(`${server.url}${app}/custom/stream?url=http://${host}/late`);
  expect(await streamed.text()).toBe('begun late');
  expectOk(await admin.delete(policy));
});

it('takes a response of 1 MiB and the time of its call, and no more', async () => {
  expect((await fetchInHook(`http://${host}/long`)).error).toContain('1048576 bytes');
  expectOk(await admin.put(`${app}/policies/hooks.timeout_ms`, { kind: 'range', min: 1, max: 300 }));
  const began = performance.now();
  const post = { url: `http://${host}/silent` };
  expect((await as(undefined, server.url).post(`${app}/custom/fetch`, post)).status).toBe(500);
  await silence.promise;
  expect(performance.now() - began).toBeLessThan(3_000);
});
