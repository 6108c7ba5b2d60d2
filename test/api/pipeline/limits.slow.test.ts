// What a client may cost before it has said anything: raw connections against a real server.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { serverUrl } from '../../harness/api.ts';
import { expectError, expectStandingHeaders } from '../../harness/expectations.ts';
import { sendRaw } from '../../harness/raw-requests.ts';

const seconds = 1_000;
const start = 'GET /healthz HTTP/1.1\r\nHost: x\r\n';
const posted = 'POST /_/auth/admin/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

async function ask(bytes: string | Buffer, until?: string) {
  const response = await sendRaw(serverUrl(), bytes, until);
  return { ...response, text: response.body, all: response.text };
}

describe('http.limits: time', () => {
  it.concurrent('headers that are not complete within 10 s get 408', async () => {
    const response = await ask('GET /healthz HTTP/1.1\r\nHost: x\r\n');
    expectError(response, 408, 'unavailable');
    expect(response.milliseconds).toBeGreaterThan(9 * seconds);
    expect(response.milliseconds).toBeLessThan(14 * seconds);
  });

  it.concurrent('a connection that says nothing is closed as well', async () => {
    const response = await ask('');
    expect(response.milliseconds).toBeLessThan(14 * seconds);
  });

  it.concurrent(
    'a body that is not complete within 60 s gets 408',
    { timeout: 90 * seconds },
    async () => {
      const response = await ask(`${posted}Content-Length: 100\r\n\r\n{"username":`);
      expectError(response, 408, 'unavailable');
      expect(response.milliseconds).toBeGreaterThan(59 * seconds);
      expect(response.milliseconds).toBeLessThan(65 * seconds);
    },
  );
});

describe('http.limits: size', () => {
  it('headers over 16 KiB get 431', async () => {
    expectError(await ask(`${start}X-Filler: ${'x'.repeat(16_384)}\r\n\r\n`), 431, 'payload_too_large');
  });

  it('headers just under 16 KiB are read', async () => {
    const response = await ask(`${start}Connection: close\r\nX-Filler: ${'x'.repeat(15_000)}\r\n\r\n`);
    expect(response.status).toBe(200);
  });

  it.each([['a path over 16 KiB', `/${'x'.repeat(17_000)}`], [
    'a query over 64 KiB',
    `/?${'x'.repeat(65_536)}`,
  ]])(
    '%s gets the same response as headers over it',
    async (_, url) => {
      expectError(await ask(`GET ${url} HTTP/1.1\r\nHost: x\r\n\r\n`), 431, 'payload_too_large');
    },
  );

  it('a query of 48 KiB is read', async () => {
    const response = await ask(
      `GET /healthz?${'x'.repeat(49_152)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect(response.status).toBe(200);
  });

  it('100 header lines are read, 101 get 431', async () => {
    const filler = (count: number) =>
      Array.from({ length: count }, (_, at) => `X-Filler-${at}: x\r\n`).join('');
    const response = await ask(`${start}${filler(98)}Connection: close\r\n\r\n`);
    expect(response.status).toBe(200);
    expectError(await ask(`${start}${filler(99)}Connection: close\r\n\r\n`), 431, 'payload_too_large');
  });
});

describe('http.limits: what is not HTTP, or is so in two ways', () => {
  it.each([
    ['garbage', 'hello\r\n\r\n'],
    ['a TLS greeting', Buffer.from('160301020001000001fc0303', 'hex')],
    ['an unknown method', 'FOO /healthz HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['two Hosts', `${start}Host: y\r\n\r\n`],
    ['a Host whose port there is not', 'GET /./healthz HTTP/1.1\r\nHost: x:99999\r\n\r\n'],
    ['a Host that is half an address', "GET /healthz?' HTTP/1.1\r\nHost: [1:::2]\r\n\r\n"],
    ['a Host that is an address of too much', 'GET /%2e HTTP/1.1\r\nHost: 999.999.999.999\r\n\r\n'],
    ['a Host with a space', 'GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n'],
    ['bare line feeds', 'GET /healthz HTTP/1.1\nHost: x\n\n'],
    ['a space before the colon', `${start}X-A : b\r\n\r\n`],
    ['a folded line', `${start}X-A: b\r\n c\r\n\r\n`],
    ['a NUL in a header', `${start}X-A: b\0c\r\n\r\n`],
    ['a carriage return in a header', `${start}X-A: b\rc\r\n\r\n`],
    ['a header without a name', `${start}: b\r\n\r\n`],
    ['length and chunks', `${posted}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['chunks and length', `${posted}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`],
    ['two lengths', `${posted}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    ['a negative length', `${posted}Content-Length: -1\r\n\r\n`],
    ['a length with a sign', `${posted}Content-Length: +2\r\n\r\n{}`],
    ['a length in words', `${posted}Content-Length: two\r\n\r\n{}`],
    [
      'chunks that are not the last encoding',
      `${posted}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    ],
    ['an unknown encoding', `${posted}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['an encoding below the chunks', `${posted}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    [
      'an encoding in a line of its own',
      `${posted}Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      'chunks of HTTP/1.0',
      `${posted.replace('1.1', '1.0')}Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a chunk of no size', `${posted}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
    ['a chunk of too much size', `${posted}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n`],
  ])('%s gets 400, and the connection is closed', async (_what, bytes) => {
    const response = await ask(bytes);
    expectError(response, 400, 'validation');
    expect(response.headers.get('Connection')).toBe('close');
    expect(response.all.match(/HTTP\/1\.1 \d{3} /g)).toHaveLength(1);
  });

  it('an unknown expectation gets 417', async () => {
    expectError(
      await ask(`${posted}Expect: the-unexpected\r\nContent-Length: 2\r\n\r\n{}`),
      417,
      'validation',
    );
  });

  it('CONNECT gets 405', async () => {
    expectError(
      await ask('CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: x\r\n\r\n'),
      405,
      'method_not_allowed',
    );
  });

  it('an upgrade is ignored', async () => {
    const response = await ask(`${start}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`);
    expect(response.status).toBe(200);
  });

  it('100-continue gets its response before the body', async () => {
    const response = await ask(
      `${posted}Connection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`,
    );
    expect(response.all).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /);
  });

  it('requests in one packet get their responses one after the other', async () => {
    const line = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n`;
    const response = await ask(
      `${line('/readyz')}\r\n${line('/nope')}\r\n${line('/healthz')}Connection: close\r\n\r\n`,
    );
    expect([...response.all.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status)).toEqual([
      '200',
      '404',
      '200',
    ]);
    expectStandingHeaders(response.headers);
  });

  it('a body on a route that reads none is not taken for the next request', async () => {
    const smuggled = 'GET /nope HTTP/1.1\r\nHost: x\r\n\r\n';
    const first = `GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`;
    const response = await ask(`${first}GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect([...response.all.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status)).toEqual([
      '200',
      '200',
    ]);
  });
});

describe('http.limits: many large bodies', () => {
  const many = 12;
  const megabytes = 4;
  const get = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

  async function opened(): Promise<Socket> {
    const { hostname, port } = new URL(serverUrl());
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    return socket;
  }

  /** How many of them, complete at one moment, get their responses before a request that comes right behind them. */
  async function answeredBefore(): Promise<number> {
    const body = `{"x":1${' '.repeat(megabytes * 1_048_576)}`;
    const head = `${posted}Content-Length: ${body.length + 1}\r\n\r\n`;
    const large = await Promise.all(Array.from({ length: many }, opened));
    const small = await opened();
    const sent = large.map((socket) => new Promise((resolve) => socket.write(head + body, resolve)));
    await Promise.all(sent);
    let answered = 0;
    const responses = large.map((socket) => once(socket, 'data').then(() => answered++));
    for (const socket of large) socket.write('}');
    small.write(get);
    await once(small, 'data');
    const before = answered;
    await Promise.all(responses);
    for (const socket of [small, ...large]) socket.destroy();
    return before;
  }

  it('are read one after another, others in between', async () => {
    const rounds = [await answeredBefore(), await answeredBefore(), await answeredBefore()];
    // The best, as other processes use the machine too.
    expect(Math.min(...rounds)).toBeLessThan(many / 2);
  });
});
