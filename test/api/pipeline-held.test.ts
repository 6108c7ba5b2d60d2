// What one address can keep in the memory of a server: bodies that it does not end, and answers that it does not take.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { H3 } from 'h3';
import { afterAll, expect, it } from 'vitest';
import { nodeListener, WholeResponse } from '../../api/pipeline/node-listener.ts';
import { as, expectOk } from '../harness/api.ts';
import { startServer } from '../harness/server.ts';

const server = await startServer({ config: { rate_limit: { per_second: 10_000, burst: 10_000 } } });
const sockets: Socket[] = [];

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await server.stop();
});

/** Announces a body of 8 MiB and sends all of it but the last byte. */
async function begin(localAddress: string, path = '/_/setup'): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  sockets.push(socket);
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 8388608\r\n\r\n`,
  );
  await new Promise((resolve) => socket.write(Buffer.alloc(8_388_607, ' '), resolve));
  return socket;
}

/** The beginning of what is answered. Throws when the connection ends without an answer. */
async function answerOn(socket: Socket): Promise<string> {
  const ended = once(socket, 'close').then(() => {
    throw new Error('the connection ended without an answer');
  });
  const [said] = await Promise.race([once(socket, 'data'), ended]);
  return String(said);
}

/** An app, and its master. */
async function prepare() {
  const password = 'a password of the test';
  const anyone = as(undefined, server.url);
  expectOk(await anyone.post('/_/setup', { password }));
  const session = expectOk(await anyone.post('/_/auth/admin/login', { username: 'admin', password }));
  const master = as(session.access_token, server.url);
  expectOk(await master.post('/api/workspaces', { id: 'acme', name: 'Acme' }));
  expectOk(await master.post('/api/workspaces/acme/apps', { id: 'shop', name: 'Shop' }));
  return { master, app: '/api/workspaces/acme/apps/shop' };
}

const { master, app } = await prepare();

it('bodies that are not sent to their end take no more than 256 MiB, and nobody else’s room', async () => {
  for (let body = 0; body < 31; body++) await begin('127.0.0.1');
  const refused = await Promise.all([begin('127.0.0.1'), begin('127.0.0.1')]);
  expect(await Promise.race(refused.map(answerOn))).toMatch(
    /^HTTP\/1.1 429 [^]*Retry-After: 1[^]*"too_many_requests"/,
  );
  const other = await begin('127.0.0.2');
  other.write('}');
  expect(await answerOn(other)).toMatch(/^HTTP\/1.1 422 /);
  for (const socket of sockets.splice(0)) socket.destroy();
  await expect.poll(async () => {
    const again = await begin('127.0.0.1');
    again.write('}');
    return (await answerOn(again)).slice(0, 12);
  }, { timeout: 10_000 }).toBe('HTTP/1.1 422');
});

it('bodies for custom routes are counted with all others', async () => {
  const source = "routerAdd('POST', '/length', async (e) => (await e.request.text()).length);";
  expectOk(await master.put(`${app}/hooks/routes.ts`, { source }));
  const path = `${app}/custom/length`;
  for (let body = 0; body < 31; body++) await begin('127.0.0.3', path);
  const refused = await Promise.all([begin('127.0.0.3', path), begin('127.0.0.3', path)]);
  expect(await Promise.race(refused.map(answerOn))).toMatch(/^HTTP\/1.1 429 [^]*"too_many_requests"/);
  for (const socket of sockets.splice(0)) socket.destroy();
  const other = await begin('127.0.0.4', path);
  other.write(' ');
  expect(await answerOn(other)).toMatch(/^HTTP\/1.1 200 [^]*8388608$/);
});

it('one address has 256 files under way at most, and nobody else’s', async () => {
  const bytes = 'x'.repeat(8_388_608);
  const stored = await fetch(`${server.url}${app}/files`, {
    method: 'POST',
    body: bytes,
    headers: { Authorization: `Bearer ${master.token}` },
  });
  const { id } = await stored.json() as { id: string };
  const { port } = new URL(server.url);
  const download = async (localAddress: string) => {
    const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress });
    sockets.push(socket);
    socket.write(
      `GET ${app}/files/${id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${master.token}\r\n\r\n`,
    );
    const head = await answerOn(socket);
    socket.pause();
    return head.slice(0, 12);
  };
  const statuses = new Map<string, number>();
  const upload = async (localAddress: string) => {
    const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress });
    sockets.push(socket);
    socket.write(
      `POST ${app}/files HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${master.token}\r\n` +
        'Expect: 100-continue\r\nContent-Length: 8\r\n\r\n',
    );
    await answerOn(socket);
  };
  for (let count = 0; count < 6; count++) await upload('127.0.0.5');
  for (let count = 0; count < 254; count++) {
    const status = await download('127.0.0.5');
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  expect(Object.fromEntries(statuses)).toEqual({ 'HTTP/1.1 200': 250, 'HTTP/1.1 429': 4 });
  expect(await download('127.0.0.6')).toBe('HTTP/1.1 200');
  for (const socket of sockets.splice(0)) socket.destroy();
  await expect.poll(() => download('127.0.0.5'), { timeout: 10_000 }).toBe('HTTP/1.1 200');
});

it('an answer that nobody takes is cut off', async () => {
  const app = new H3().get(
    '/',
    () => new WholeResponse({ status: 200, headers: [], body: 'x'.repeat(33_554_432) }),
  );
  const http = createServer(nodeListener(app, 500)).listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  const closed = once(http, 'connection').then(([socket]) => once(socket, 'close'));
  const client = connect(port, '127.0.0.1').pause();
  sockets.push(client);
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await closed;
  http.close();
});
