// Runners that answer custom routes as they like: a client never takes their words for those of another answer.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk } from '../harness/api.ts';
import { openStorefront } from '../harness/storefront.ts';
import { type HostileServer, startHostileServer } from './runner.ts';

const app = '/api/workspaces/acme/apps/shop';
const forged = 'HTTP/1.1 200 OK\\r\\nSet-Cookie: svc_at=forged\\r\\nContent-Length: 6\\r\\n\\r\\nforged';

let hostile: HostileServer;
let admin: Caller;

beforeAll(async () => {
  hostile = await startHostileServer();
  admin = (await openStorefront(hostile.server.url)).master;
});
afterAll(() => hostile.stop());

async function put(says: string): Promise<void> {
  const source = `return (frame) => {
    if (frame.type === 'ping') return send({ type: 'pong', id: frame.id });
    if (frame.type !== 'route') return;
    const answer = (rest) => send({ type: 'response', id: frame.id, status: 200, headers: [], body: null, end: true, ...rest });
    const forged = { text: '${forged}' };
    ${says}
  };`;
  expect(expectOk(await admin.put(`${app}/hooks/hostile.js`, { source })).reload.errors).toEqual([]);
}

/** What comes over one connection for the route and then for `/healthz`, up to its end. */
async function both(method: string): Promise<string> {
  const { port } = new URL(hostile.server.url);
  const socket = connect(Number(port), '127.0.0.1');
  let text = '';
  socket.on('data', (bytes: Buffer) => text += bytes.toString('latin1'));
  socket.on('error', () => 'a response that is broken off ends it');
  const host = 'Host: localhost\r\n';
  socket.write(
    `${method} ${app}/custom/x HTTP/1.1\r\n${host}\r\nGET /healthz HTTP/1.1\r\n${host}Connection: close\r\n\r\n`,
  );
  await once(socket, 'close');
  return text;
}

/** The two responses, taken apart by what HTTP says of their lengths (RFC 9112 section 6.3). */
function apart(text: string, method: string): { status: number; body: string; head: string; rest: string } {
  const end = text.indexOf('\r\n\r\n');
  const head = text.slice(0, end);
  const status = Number(head.slice(9, 12));
  const after = text.slice(end + 4);
  if (method === 'HEAD' || status === 204 || status === 304) return { status, body: '', head, rest: after };
  const length = /^content-length: (\d+)$/im.exec(head)?.[1];
  if (length !== undefined) {
    return { status, head, body: after.slice(0, Number(length)), rest: after.slice(Number(length)) };
  }
  let [body, at] = ['', 0];
  for (;;) {
    const line = after.indexOf('\r\n', at);
    const size = Number.parseInt(after.slice(at, line), 16);
    if (!(size > 0)) return { status, head, body, rest: after.slice(line + 4) };
    body += after.slice(line + 2, line + 2 + size);
    at = line + 4 + size;
  }
}

const whole: readonly (readonly [string, string, number, string])[] = [
  ['a 204 with a body', `answer({ status: 204, body: forged });`, 204, 'GET'],
  [
    'a 204 with a body in pieces',
    `answer({ status: 204, end: false }); send({ type: 'chunk', id: frame.id, body: forged }); send({ type: 'end', id: frame.id });`,
    204,
    'GET',
  ],
  [
    'a 304 with a body and a length',
    `answer({ status: 304, headers: [['content-length', '5']], body: forged });`,
    304,
    'GET',
  ],
  ['a 205 with a body', `answer({ status: 205, body: forged });`, 205, 'GET'],
  ['a body for a HEAD', `answer({ body: forged });`, 200, 'HEAD'],
  [
    'pieces of a body for a HEAD',
    `answer({ end: false, body: forged }); send({ type: 'chunk', id: frame.id, body: forged }); send({ type: 'end', id: frame.id });`,
    200,
    'HEAD',
  ],
  [
    'a length that is too short',
    `answer({ headers: [['content-length', '1'], ['Content-Length', '2']], body: forged });`,
    200,
    'GET',
  ],
  [
    'an encoding of its own',
    `answer({ headers: [['transfer-encoding', 'chunked'], ['Transfer-Encoding', 'identity'], ['trailer', 'x']], body: forged });`,
    200,
    'GET',
  ],
  [
    'pieces with an encoding of their own',
    `answer({ end: false, headers: [['transfer-encoding', 'identity'], ['content-length', '3'], ['connection', 'close']] }); send({ type: 'chunk', id: frame.id, body: forged }); send({ type: 'end', id: frame.id });`,
    200,
    'GET',
  ],
  [
    'a header of two lines',
    `answer({ headers: [['x-a', 'b\\r\\nset-cookie: svc_at=forged']], body: forged });`,
    500,
    'GET',
  ],
  ['a name of two lines', `answer({ headers: [['x-a: b\\r\\nset-cookie', 'svc_at=forged']] });`, 500, 'GET'],
  ['a name with a space before its colon', `answer({ headers: [['content-length ', '3']] });`, 500, 'GET'],
  ['a name that is none', `answer({ headers: [['', 'x']] });`, 500, 'GET'],
  ['NUL in a header', `answer({ headers: [['x-a', 'b\\0c']] });`, 500, 'GET'],
  ['a line that other readers would break', `answer({ headers: [['x-a', 'b\\u2028c']] });`, 500, 'GET'],
  ['a status of a connection', `answer({ status: 101 });`, 500, 'GET'],
  ['a status of text', `answer({ status: '200 OK' });`, 500, 'GET'],
  ['a body before its head', `send({ type: 'chunk', id: frame.id, body: forged }); answer({});`, 500, 'GET'],
  [
    'an error of two lines',
    `send({ type: 'result', id: frame.id, outcome: 'http_error', status: 418, code: 'a\\r\\nb', message: 'x' });`,
    418,
    'GET',
  ],
  ['two responses', `answer({ body: { text: 'one' } }); answer({ body: forged });`, 200, 'GET'],
];

describe('a hostile runner', () => {
  it.each(whole)(
    'hook.custom-route: gets no second response into a connection by %s',
    async (_, says, status, method) => {
      await put(says);
      const text = await both(method);
      const first = apart(text, method);
      expect(first.status).toBe(status);
      expect(first.head).not.toMatch(/svc_at/);
      expect(first.head.match(/^(content-length|transfer-encoding):/gim)?.length ?? 0).toBeLessThan(2);
      const second = apart(first.rest, 'GET');
      expect([second.status, JSON.parse(second.body), second.rest]).toEqual([200, { initialized: true }, '']);
    },
  );

  it('hook.custom-route: breaks the connection of a response that it leaves half', async () => {
    const half =
      `answer({ end: false, body: { text: 'half' } }); setTimeout(() => answer({ body: forged }), 50);`;
    await put(half);
    const text = await both('GET');
    expect(text.slice(text.indexOf('\r\n\r\n') + 4)).toBe('4\r\nhalf\r\n');
  });
});
