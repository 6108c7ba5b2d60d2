// What every request meets: routing, request ids, the shape of errors, reading a body.
import { describe, expect, it } from 'vitest';
import { additions, specified } from '../../contract/endpoints.ts';
import { as, send, serverUrl } from '../../harness/api.ts';
import { expectError, expectStandingHeaders } from '../../harness/expectations.ts';
import { sendRaw } from '../../harness/raw-requests.ts';

const login = '/_/auth/admin/login';
const cap = 8_388_608;
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** The paths of the contract with their parameters filled in, and the methods that each has. */
const methodsByPath = new Map<string, string[]>();
for (const { method, path } of [...specified, ...additions]) {
  const filled = path.replaceAll(/:[a-z]+/g, 'x');
  methodsByPath.set(filled, [...methodsByPath.get(filled) ?? [], method]);
}
const lacking = [...methodsByPath].filter(([, has]) => methods.some((method) => !has.includes(method)));

function post(body: string, headers: Record<string, string> = {}) {
  return send(serverUrl() + login, { method: 'POST', body, headers });
}

/** Sends a request line as it is, on a connection of its own. */
const ask = (line: string) =>
  sendRaw(serverUrl(), `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);

describe('routing', () => {
  it.each(['/', '/nope', '/api', '/api/workspaces/x/nope', '/_/', '/metrics', '/favicon.ico'])(
    'responds with 404 for %s',
    async (path) => expectError(await as().get(path), 404, 'not_found'),
  );

  it.each(lacking)('responds with 405 with Allow for the other methods of %s', async (path, has) => {
    const other = methods.find((method) => !has.includes(method)) ?? 'PUT';
    const response = await send(serverUrl() + path, { method: other });
    expectError(response, 405, 'method_not_allowed');
    const expected = has.flatMap((method) => method === 'GET' ? ['GET', 'HEAD'] : [method]);
    expect(response.headers.get('Allow')?.split(', ').sort()).toEqual(expected.sort());
  });

  it('answers HEAD like GET, without the body', async () => {
    const [head, get] = await Promise.all(
      ['HEAD', 'GET'].map((method) => send(`${serverUrl()}/healthz`, { method })),
    );
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(head?.headers.get('Content-Length')).toBe(get?.headers.get('Content-Length'));
    expectStandingHeaders(head?.headers ?? new Headers());
  });

  it('answers OPTIONS that is no preflight like any other method', async () => {
    expectError(await send(`${serverUrl()}/healthz`, { method: 'OPTIONS' }), 405, 'method_not_allowed');
  });

  it.each([
    '/%',
    '/api/workspaces/%zz',
    '/api/workspaces/%ff',
    '//',
    '///x',
    '/\\',
    '/a b',
    '/?%',
    '/api/workspaces/%00/apps',
  ])(
    'survives the path %s',
    async (path) => {
      const response = await ask(`GET ${path}`);
      expect([400, 401, 404]).toContain(response.status);
      expectStandingHeaders(response.headers);
      expect(JSON.parse(response.body)).toEqual({ code: expect.any(String), message: expect.any(String) });
    },
  );

  it.each(['GET http://elsewhere.example/nope', 'OPTIONS *', `GET /${'x'.repeat(8_000)}`, 'GET /#x'])(
    'survives the request line %s',
    async (line) => {
      const response = await ask(line);
      expect([400, 404, 405]).toContain(response.status);
      expectStandingHeaders(response.headers);
    },
  );

  it.each([
    '/API/workspaces',
    '/api//workspaces',
    '/api/workspaces/',
    '/api/workspaces/.',
    '/api/workspaces;x',
    '/api/workspaces%2f',
    '/%61pi/workspaces',
    '/healthz/../api/workspaces',
    '/healthz/%2e%2e/api/workspaces',
    '/api/workspaces?/healthz',
    'http://x/api/workspaces',
  ])('http.limits: %s gets nobody past authentication', async (path) => {
    const { status } = await ask(`GET ${path}`);
    expect([401, 404]).toContain(status);
  });
});

describe('request ids', () => {
  it.each(['a', 'A-z.0_9', 'x'.repeat(128)])('are echoed: %s', async (id) => {
    const response = await as().get('/healthz', { 'X-Request-Id': id });
    expect(response.headers.get('X-Request-Id')).toBe(id);
  });

  it.each(['', ' ', 'x'.repeat(129), 'a b', 'a/b', 'ä', '{}', 'a,b'])(
    'are made where "%s" was sent',
    async (id) => {
      const bytes = Buffer.from(
        `GET /nope HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: ${id}\r\n\r\n`,
        'latin1',
      );
      const response = await sendRaw(serverUrl(), bytes);
      expect(response.headers.get('X-Request-Id')).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    },
  );

  it('differ from request to request', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => (await as().get('/healthz')).headers.get('X-Request-Id')),
    );
    expect(new Set(ids).size).toBe(20);
  });
});

describe('a body', () => {
  it('over the cap is refused by its announced length, before a byte of it is read', async () => {
    const response = await sendRaw(
      serverUrl(),
      `POST ${login} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${
        cap + 1
      }\r\n\r\n`,
      'bytes"}',
    );
    expectError({ ...response, text: response.body }, 413, 'payload_too_large');
  });

  it('over the limit has its response read by a client that writes all of it first', async () => {
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => post(' '.repeat(cap * 2))),
    );
    for (const response of responses) expectError(response, 413, 'payload_too_large');
  });

  it('over the cap is refused while it comes in chunks of unknown length', async () => {
    const chunk = Buffer.alloc(65_536, 0x20);
    const count = cap / chunk.length + 1;
    const stream = ReadableStream.from((function* () {
      for (let sent = 0; sent < count; sent++) yield chunk;
    })());
    const response = await fetch(serverUrl() + login, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: stream,
      duplex: 'half',
    });
    const { status, headers } = response;
    expectError({ status, headers, text: await response.text() }, 413, 'payload_too_large');
  });

  it('of exactly the cap is read', async () => {
    const empty = '{"username":""}';
    const response = await post(`{"username":"${'x'.repeat(cap - empty.length)}"}`);
    expectError(response, 400, 'validation');
  });

  it('over the cap is refused on routes that read none', async () => {
    const response = await sendRaw(
      serverUrl(),
      `DELETE /api/workspaces/x HTTP/1.1\r\nHost: x\r\nContent-Length: ${cap + 1}\r\n\r\n`,
      'bytes"}',
    );
    expectError({ ...response, text: response.body }, 413, 'payload_too_large');
  });

  it.each([
    ['nothing', ''],
    ['white space', '  \n'],
    ['text', 'hello'],
    ['half an object', '{"username":'],
    ['an object and more', '{} {}'],
    ['single quotes', "{'username':'x'}"],
    ['a trailing comma', '{"username":"x",}'],
    ['NaN', '{"username":NaN}'],
    ['a raw control character', '{"username":"\u0001"}'],
    ['an array', '[]'],
    ['a string', '"x"'],
    ['a number', '5'],
    ['null', 'null'],
    ['a byte order mark', '\ufeff{}'],
  ])('that is %s is 422 deserialization', async (_what, body) => {
    expectError(await post(body), 422, 'deserialization');
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json-seq',
    'json',
  ])('of the type %s is 422 deserialization', async (type) => {
    expectError(await post('{}', { 'Content-Type': type }), 422, 'deserialization');
  });

  it('without a type is 422 deserialization', async () => {
    const response = await sendRaw(
      serverUrl(),
      `POST ${login} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`,
    );
    expectError({ ...response, text: response.body }, 422, 'deserialization');
  });

  const jsonTypes = [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/a+json',
  ];
  it.each(jsonTypes)('of the type %s is read', async (type) => {
    expectError(await post('{}', { 'Content-Type': type }), 400, 'validation');
  });

  it.each([
    ['not UTF-8', Buffer.from('{"username":"\xff"}', 'latin1'), 422, 'deserialization'],
    ['nested too deeply', `{"username":${'['.repeat(64)}${']'.repeat(64)}}`, 400, 'validation'],
    ['of too many values', `{"username":[${'1,'.repeat(100_000)}1]}`, 400, 'validation'],
    ['with a NUL character', '{"username":"\\u0000"}', 400, 'validation'],
    ['with a lone surrogate', '{"username":"\\ud800"}', 400, 'validation'],
    ['with an infinite number', '{"username":1e400}', 400, 'validation'],
    ['with __proto__', '{"__proto__":{"username":"x"}}', 400, 'validation'],
    ['with a key twice', '{"username":"x","username":"y"}', 400, 'validation'],
    ['of 8 MiB of brackets', '['.repeat(cap), 400, 'validation'],
  ])('json.shape: that is JSON %s is refused', async (_what, body, status, code) => {
    const head =
      `POST ${login} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n`;
    const bytes = Buffer.from(body);
    const request = Buffer.concat([Buffer.from(`${head}Content-Length: ${bytes.length}\r\n\r\n`), bytes]);
    const response = await sendRaw(serverUrl(), request);
    expectError({ ...response, text: response.body }, status, code);
  });

  it('names everything that is wrong with it at once', async () => {
    const response = await post('{"password":5,"colour":"red"}');
    const wrong = ['colour: unknown field', 'password: must be a string', 'username: is required'];
    expect([response.status, ...response.body.message.split('; ').sort()]).toEqual([400, ...wrong]);
  });
});
