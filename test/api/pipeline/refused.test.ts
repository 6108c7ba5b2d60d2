// Requests beside one that Node or HTTP itself refuses: raw connections against a real server.
import { once } from 'node:events';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { master, ownWorkspace, serverUrl } from '../../harness/api.ts';
import { sendRaw } from '../../harness/raw-requests.ts';

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const posted = 'POST /_/auth/admin/login HTTP/1.1\r\nHost: x\r\n';
const tunnel = 'CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: x\r\n\r\n';

/** The statuses of all responses until the server closes the connection, which each of these has. */
async function statusesOf(bytes: string): Promise<(string | undefined)[]> {
  const { text } = await sendRaw(serverUrl(), bytes);
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);
}

async function open(options: Partial<NetConnectOpts> = {}): Promise<Socket> {
  const { hostname, port } = new URL(serverUrl());
  const socket = connect({ host: hostname, port: Number(port), ...options });
  await once(socket, 'connect');
  return socket;
}

it.each([
  ['what is not HTTP', 'nonsense\r\n\r\n', '400'],
  ['headers that are too long', get('/healthz', `X-Filler: ${'x'.repeat(17_000)}\r\n`), '431'],
  ['a tunnel', tunnel, '405'],
  ['chunks of no size', `${posted}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, '400'],
])('those before %s get their responses, in their order', async (_what, bytes, status) => {
  // The database is asked for the one, so that its response has not begun when the others are read.
  expect(await statusesOf(get('/readyz') + get('/nope') + bytes)).toEqual(['200', '404', status]);
});

it('the last one of a connection gets its response, whatever comes behind it', async () => {
  const last = get('/readyz', 'Connection: close\r\n');
  expect(await statusesOf(last + get('/healthz'))).toEqual(['200']);
  expect(await statusesOf(`${last}nonsense`)).toEqual(['200']);
});

it.each([
  ['two Hosts', get('/healthz', 'Host: y\r\n'), '400'],
  ['an unknown expectation', get('/healthz', 'Expect: the-unexpected\r\n'), '417'],
])('those behind one of %s are not done, since the connection ends with it', async (_what, bytes, status) => {
  const { path, admin } = await ownWorkspace();
  const body = '{"id":"behind","name":"Behind"}';
  const head = `POST ${path}/apps HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${admin.token}\r\n`;
  const behind = `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  expect(await statusesOf(bytes + behind)).toEqual([status]);
  // Made later than the other would have been.
  expect((await admin.post(`${path}/apps`, { id: 'after', name: 'After' })).status).toBe(201);
  expect((await admin.get(`${path}/apps/behind`)).status).toBe(404);
});

it.each([
  ['at once', tunnel],
  ['with a body under way', tunnel.replace('\r\n\r\n', '\r\nContent-Length: 9\r\n\r\nhalf')],
  ['behind another request', get('/readyz') + tunnel],
])(
  'a client that asks for a tunnel %s, and breaks off, ends no connection but its own',
  async (_how, bytes) => {
    const beside = await open();
    for (let round = 0; round < 5; round++) {
      const socket = await open();
      socket.write(bytes);
      if (round > 0) await once(socket, 'data');
      socket.resetAndDestroy();
      beside.write(get('/readyz'));
      const [response] = await once(beside, 'data');
      expect(String(response)).toMatch(/^HTTP\/1\.1 200 /);
    }
    beside.destroy();
  },
);

it.concurrent.each([
  ['a tunnel', () => Promise.resolve(tunnel)],
  ['a WebSocket', async () => {
    const { token } = await master();
    const handshake = 'Upgrade: websocket\r\nSec-WebSocket-Version: 12\r\nSec-WebSocket-Key: x\r\n';
    const head = `Connection: Upgrade\r\n${handshake}Authorization: Bearer ${token}\r\n`;
    return get('/api/workspaces/nowhere/apps/none/realtime', head);
  }],
])('a client that is refused %s, and stays, is cut off within 10 s', async (_what, bytes) => {
  const asked = await bytes();
  const socket = await open({ allowHalfOpen: true });
  const started = performance.now();
  socket.write(asked);
  // Only what is sent to a connection that is gone shows that it is.
  const knocking = setInterval(() => socket.write('x'), 100);
  socket.resume();
  socket.on('error', () => socket.destroy());
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(knocking);
  expect(performance.now() - started).toBeGreaterThan(9_000);
  expect(performance.now() - started).toBeLessThan(14_000);
});

it('ten requests may wait behind one without its response; of more the connection is closed behind them', async () => {
  const behind = (count: number) => get('/readyz') + get('/healthz').repeat(count);
  const eleven = Array.from({ length: 11 }, () => '200');
  expect(await statusesOf(behind(9) + get('/healthz', 'Connection: close\r\n'))).toEqual(eleven);
  expect(await statusesOf(behind(11))).toEqual(eleven);
  // Nothing of the responses has to have left by then.
  await expect(sendRaw(serverUrl(), behind(111))).resolves.toMatchObject({ text: '' });
  const unexpected = get('/readyz') + get('/healthz', 'Expect: the-unexpected\r\n').repeat(111);
  await expect(sendRaw(serverUrl(), unexpected)).resolves.toMatchObject({ text: '' });
});

it('so many may wait again when those before get their responses', async () => {
  const half = get('/readyz') + get('/healthz').repeat(9);
  const socket = await open();
  for (const _round of [1, 2, 3]) {
    socket.write(half);
    for (let responses = 0; responses < 10;) {
      const [text] = await once(socket, 'data');
      responses += String(text).match(/HTTP\/1\.1 200 /g)?.length ?? 0;
    }
  }
  socket.destroy();
});
