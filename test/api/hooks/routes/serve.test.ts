// Custom routes over HTTP: what handlers see, what they may answer.
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, type OwnApp, ownWorkspace, send, serverUrl } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';

const source = `
routerAdd('GET', '/items/:id', (e) => ({ id: e.params.id, query: e.query, auth: e.auth }));
routerAdd('GET', '/items/special', () => 'special');
routerAdd('GET', '/files/*', (e) => e.params['*']);
routerAdd('ANY', '/echo', async (e) => ({
  method: e.request.method,
  url: new URL(e.request.url).pathname,
  headers: Object.fromEntries(e.request.headers),
  body: e.request.method === 'GET' ? null : await e.request.text(),
}));
routerAdd('POST', '/bytes', async (e) => new Response(await e.request.arrayBuffer(), { status: 201, headers: { 'content-type': 'application/x-thing' } }));
routerAdd('GET', '/teapot', () => { throw new HttpError(418, 'teapot', 'short and stout'); });
routerAdd('GET', '/broken', () => { throw new Error('a secret of the author'); });
routerAdd('GET', '/switching', () => new Response(null, { status: 101 }));
routerAdd('GET', '/cased', () => { throw new HttpError(409, 'Stock.TOO-LOW', 'none left'); });
routerAdd('GET', '/empty', () => new Response(null, { status: 204 }));
routerAdd('GET', '/headers', () => new Response('x', { headers: [
  ['set-cookie', 'svc_at=forged; Path=/'], ['set-cookie', 'own=1'], ['set-cookie', ' SVC_rt=forged'],
  ['content-security-policy', "default-src *"], ['x-frame-options', 'ALLOWALL'], ['strict-transport-security', 'max-age=0'],
  ['transfer-encoding', 'identity'], ['connection', 'upgrade'], ['access-control-allow-origin', '*'],
  ['content-length', '9999'], ['clear-site-data', '"cookies"'], ['x-own', 'kept'],
  ['set-cookie', '=svc_at=forged; Path=/'], ['set-cookie', ' = svc_rt=forged'], ['nel', '{}'], ['report-to', '{}'],
  ['reporting-endpoints', 'x="https://evil.example"'], ['x-accel-redirect', '/internal'], ['x-sendfile', '/etc/passwd'],
  ['accept-ch', 'Sec-CH-UA-Model'], ['critical-ch', 'Sec-CH-UA-Model'], ['set-login', 'logged-in'], ['origin-agent-cluster', '?0'],
  ['x-envoy-immediate-health-check-fail', '1'], ['x-litespeed-location', '/internal'], ['x-reproxy-file', '/etc/passwd'],
  ['use-as-dictionary', 'match="/*"'], ['secure-session-registration', '(ES256);path="/x"'],
] }));
routerAdd('GET', '/stream', () => {
  let n = 0;
  return new Response(new ReadableStream({ async pull(controller) {
    if (n === 40) return controller.close();
    controller.enqueue(new Uint8Array(50_000).fill(65 + n++ % 26));
    await new Promise((resolve) => setTimeout(resolve, 1));
  } }), { headers: { 'content-type': 'text/plain' } });
});
const drip = { pull: async (controller) => {
  controller.enqueue(new Uint8Array(1));
  await new Promise((resolve) => setTimeout(resolve, 100));
} };
routerAdd('GET', '/endless', () => new Response(new ReadableStream(drip)));
routerAdd('GET', '/latin', () => new Response('ä', { headers: { 'x-name': 'caf\\u00e9' } }));
routerAdd('GET', '/public', () => new Response('ä', { headers: { 'cache-control': 'public, max-age=60' } }));
routerAdd('GET', '/wordy', () => new Response('x', { headers: Array.from({ length: 101 }, (_, n) => ['x-' + n, '1']) }));
routerAdd('GET', '/', () => 'front');
routerAdd('GET', '/never', () => new Promise(() => {}));
routerAdd('GET', '/records/:id', async (e) => await $app.records.findOne('posts', e.params.id) ?? { missing: true });
`;

let app: OwnApp;

beforeAll(async () => {
  const own = await ownWorkspace();
  app = await own.app();
  const put = expectOk(await app.admin.put(`${app.path}/hooks/routes.ts`, { source }));
  expect(put.reload.errors).toEqual([]);
});

const custom = (path: string) => `${app.path}/custom${path}`;

describe('a custom route', () => {
  it('has parameters, a query and the caller', async () => {
    const anonymous = expectOk(await as().get(custom('/items/a%20b?x=1&x=2&y=')));
    expect(anonymous).toEqual({ id: 'a b', query: { x: '1', y: '' }, auth: null });
    const { auth } = expectOk(await app.admin.get(custom('/items/7')));
    expect(auth).toMatchObject({ role: 'app_admin', email: expect.stringContaining('@'), app: app.id });
  });

  it('is kept by no cache, unless it says so', async () => {
    const kept = async (path: string) => (await as().get(custom(path))).headers.get('cache-control');
    for (const path of ['/items/7', '/teapot', '/stream']) {
      expect([path, await kept(path)]).toEqual([path, 'no-store']);
    }
    expect(await kept('/public')).toBe('public, max-age=60');
  });

  it('is found by its most exact path, and by the rest', async () => {
    expect((await as().get(custom('/items/special'))).body).toBe('special');
    expect((await as().get(custom('/files/a/b%2Fc'))).body).toBe('a/b/c');
    expect((await as().get(custom('/files'))).body).toBe('');
  });

  it('may have letters of Latin-1 in its headers, whatever its body', async () => {
    const response = await fetch(serverUrl() + custom('/latin'));
    expect([response.headers.get('x-name'), await response.text()]).toEqual(['caf\u00e9', 'ä']);
  });

  it('may be the front of all', async () => {
    for (const path of ['', '/', '/?x=1']) expect(expectOk(await as().get(custom(path)))).toBe('front');
  });

  it('that takes the rest takes it with empty parts, as an address has one', async () => {
    expect(expectOk(await as().get(custom('/files/https://example.com/a')))).toBe('https://example.com/a');
  });

  it('that nobody registered is 404, whatever the method', async () => {
    for (
      const [method, path] of [['GET', '/nope'], ['POST', '/items/7'], ['DELETE', '/'], ['GET', '/items/']]
    ) {
      const response = await send(serverUrl() + custom(path ?? ''), { method: method ?? '' });
      expect([response.status, response.body.code]).toEqual([404, 'not_found']);
    }
  });

  it('answers any method and any bytes', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      expect((await send(serverUrl() + custom('/echo'), { method })).body).toMatchObject({ method });
    }
    const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);
    const response = await fetch(serverUrl() + custom('/bytes'), { method: 'POST', body: bytes });
    expect([response.status, response.headers.get('content-type')]).toEqual([201, 'application/x-thing']);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
    expect((await fetch(serverUrl() + custom('/empty'))).status).toBe(204);
    const head = await fetch(serverUrl() + custom('/items/special'), { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('throws an error of its own, or one that says nothing', async () => {
    const own = await as().get(custom('/teapot'));
    expect([own.status, own.body]).toEqual([418, { code: 'teapot', message: 'short and stout' }]);
    const cased = await as().get(custom('/cased'));
    expect([cased.status, cased.body.code]).toEqual([409, 'Stock.TOO-LOW']);
    const broken = await as().get(custom('/broken'));
    expect([broken.status, broken.body.code]).toEqual([500, 'hook_error']);
    expect(broken.text).not.toContain('secret');
    const log = expectOk(await app.admin.get(`${app.path}/hooks/logs`));
    expect(log.items[0]).toMatchObject({
      level: 'error',
      message: expect.stringContaining('a secret of the author'),
      file: 'routes.ts',
      fields: { line: 13 },
    });
  });

  it('that gives no response in time says so in the log, by its path', async () => {
    const policy = `${app.path}/policies/hooks.timeout_ms`;
    expectOk(await app.admin.put(policy, { kind: 'range', min: 1, max: 300 }));
    const late = await as().get(custom('/never?token=secret'), { 'X-Request-Id': 'never-1' });
    expectOk(await app.admin.delete(policy));
    expectError(late, 500, 'hook_error');
    const [line] = expectOk(await app.admin.get(`${app.path}/hooks/logs`)).items;
    const message = 'GET /never: the hook did not finish in time';
    expect(line).toMatchObject({ level: 'error', message, file: 'routes.ts', request_id: 'never-1' });
  });

  it('with a status that HTTP has for the connection fails alone, and takes no runner with it', async () => {
    expectError(await as().get(custom('/switching')), 500, 'hook_error');
    const { last_kill } = expectOk(await app.admin.get(`${app.path}/hooks/status`));
    expect(last_kill).toBeNull();
    expect((await app.admin.get(`${app.path}/hooks/logs`)).text).toContain('status 101');
  });

  it('with more headers than it may have is an error, not half a response', async () => {
    expectError(await as().get(custom('/wordy')), 500, 'hook_error');
  });

  it('hook.custom-route: a response cannot speak for the server or its connection', async () => {
    const response = await fetch(serverUrl() + custom('/headers'), {
      headers: { Origin: 'https://evil.example' },
    });
    expect(response.headers.getSetCookie()).toEqual([`own=1; Path=${custom('')}`]);
    expect(response.headers.get('x-own')).toBe('kept');
    expect(response.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
    expect(response.headers.get('x-frame-options')).toBe('DENY');
    expect(response.headers.get('strict-transport-security')).toMatch(/^max-age=[1-9]/);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    const withheld = [
      'clear-site-data',
      'nel',
      'report-to',
      'reporting-endpoints',
      'x-accel-redirect',
      'x-sendfile',
      'accept-ch',
      'critical-ch',
      'set-login',
      'origin-agent-cluster',
      'use-as-dictionary',
      'x-envoy-immediate-health-check-fail',
      'x-litespeed-location',
      'x-reproxy-file',
      'secure-session-registration',
    ];
    expect(withheld.filter((name) => response.headers.has(name))).toEqual([]);
    expect(response.headers.get('content-length')).toBe('1');
    expect(await response.text()).toBe('x');
  });

  it('hook.request-redaction: a handler sees neither Authorization nor Cookie', async () => {
    const response = await app.admin.post(custom('/echo'), { a: 1 }, {
      'Cookie': 'svc_at=token; other=1',
      'Proxy-Authorization': 'Basic x',
      'X-Hub-Signature': 'sha256=1',
    });
    const { headers, body } = expectOk(response);
    expect(headers).toMatchObject({ 'x-hub-signature': 'sha256=1', 'content-type': 'application/json' });
    expect(Object.keys(headers).filter((name) => /auth|cookie|svc/.test(name))).toEqual([]);
    expect(response.text).not.toContain(app.admin.token);
    expect(body).toBe('{"a":1}');
  });

  it('streams its response, and is told when the client leaves', async () => {
    const response = await fetch(serverUrl() + custom('/stream'));
    const text = await response.text();
    expect(text.length).toBe(40 * 50_000);
    expect([text[0], text[50_000], text.at(-1)]).toEqual(['A', 'B', 'N']);
    const socket = connect(Number(new URL(serverUrl()).port), '127.0.0.1');
    socket.write(`GET ${custom('/stream')} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await new Promise((resolve) => socket.once('data', resolve));
    socket.destroy();
    while (expectOk(await app.admin.get(`${app.path}/hooks/status`)).in_flight > 0);
  });

  it('takes nobody the turn while its response streams, of which 64 may', async () => {
    const clients = new AbortController();
    const ask = () => fetch(serverUrl() + custom('/endless'), { signal: clients.signal });
    // One after another: 32 runs at once would have others wait.
    const responses: Response[] = [];
    for (let stream = 0; stream < 65; stream++) responses.push(await ask());
    expect(responses.map(({ status }) => status)).toEqual([...Array<number>(64).fill(200), 503]);
    expect((await as().get(custom('/items/special'))).body).toBe('special');
    clients.abort();
    await expect.poll(async () => (await (await fetch(serverUrl() + custom('/stream'))).text()).length)
      .toBe(40 * 50_000);
  });

  it('that streams without end lets its runner go when others have taken its place', async () => {
    const own = await ownWorkspace();
    const other = await own.app();
    expectOk(await other.admin.put(`${other.path}/hooks/routes.ts`, { source }));
    const ended: number[] = [];
    const streams: Promise<void>[] = [];
    for (let turn = 0; turn < 6; turn++) {
      expectOk(await other.admin.post(`${other.path}/hooks/reload`, {}));
      const response = await fetch(`${serverUrl()}${other.path}/custom/endless`);
      streams.push(response.text().then(() => undefined, () => void ended.push(turn)));
    }
    await streams[0];
    expect(ended).toEqual([0]);
    expectOk(await own.admin.delete(other.path));
    await Promise.all(streams);
    expect(ended.length).toBe(6);
  });
});
