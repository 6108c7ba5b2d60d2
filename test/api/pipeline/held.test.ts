// The memory that one address can take: bodies that it does not end, and responses that it does not read.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { H3 } from 'h3';
import { afterAll, expect, it } from 'vitest';
import { nodeListener, PreparedResponse } from '../../../api/http/node-listener.ts';
import { expectOk } from '../../harness/api.ts';
import { startServer } from '../../harness/server.ts';
import { makeShop, setUp } from '../../harness/set-up.ts';

// A busy machine may take long over a hook that reads 8 MiB.
const server = await startServer({
  config: { rate_limit: { per_second: 10_000, burst: 10_000 }, hooks: { timeout_ms: 30_000 } },
});
const sockets: Socket[] = [];

afterAll(async () => {
  letGo();
  await server.stop();
});

/** Ends all connections of the test. */
function letGo(): void {
  for (const socket of sockets.splice(0)) socket.destroy();
}

function open(localAddress: string): Socket {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  // The tests look at the response, or at its absence.
  socket.on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

/** Announces a body of 8 MiB and sends all of it but the last byte. */
async function begin(localAddress: string, path = '/_/setup'): Promise<Socket> {
  const socket = open(localAddress);
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 8388608\r\n\r\n`,
  );
  await new Promise((resolve) => socket.write(Buffer.alloc(8_388_607, ' '), resolve));
  return socket;
}

/** The beginning of the response. Throws when the connection ends without a response. */
async function responseOn(socket: Socket): Promise<string> {
  const ended = once(socket, 'close').then(() => {
    throw new Error('the connection ended without a response');
  });
  const [said] = await Promise.race([once(socket, 'data'), ended]);
  return String(said);
}

/**
 * Begins bodies of 256 MiB, which is all that one address may have, and two more; the response to one that is too
 * many. That need not be one of the last: bytes of others may be on their way still.
 */
async function overfill(localAddress: string, path?: string): Promise<string> {
  const begun: Socket[] = [];
  for (let body = 0; body < 32; body++) begun.push(await begin(localAddress, path));
  expect(begun.some(({ bytesRead }) => bytesRead > 0)).toBe(false);
  begun.push(...await Promise.all([begin(localAddress, path), begin(localAddress, path)]));
  return await Promise.race(begun.map(responseOn));
}

const master = await setUp(server.url);
const app = await makeShop(master);

it('bodies that are not sent to their end take no more than 256 MiB, and nobody else’s room', async () => {
  expect(await overfill('127.0.0.1')).toMatch(
    /^HTTP\/1.1 429 [^]*Retry-After: 1[^]*"too_many_requests"/,
  );
  const other = await begin('127.0.0.2');
  other.write('}');
  expect(await responseOn(other)).toMatch(/^HTTP\/1.1 422 /);
  letGo();
  await expect.poll(async () => {
    const again = await begin('127.0.0.1');
    again.write('}');
    return (await responseOn(again)).slice(0, 12);
  }, { timeout: 30_000 }).toBe('HTTP/1.1 422');
});

it('bodies for custom routes are counted with all others', async () => {
  const source = "routerAdd('POST', '/length', async (e) => (await e.request.text()).length);";
  const { reload } = expectOk(await master.put(`${app}/hooks/routes.ts`, { source }));
  expect(reload).toEqual({ loaded: ['routes.ts'], errors: [] });
  const path = `${app}/custom/length`;
  expect(await overfill('127.0.0.3', path)).toMatch(/^HTTP\/1.1 429 [^]*"too_many_requests"/);
  letGo();
  const other = await begin('127.0.0.4', path);
  other.write(' ');
  expect(await responseOn(other)).toMatch(/^HTTP\/1.1 200 [^]*8388608$/);
});

it('one address has 256 files under way at most, and nobody else’s', async () => {
  const { id } = expectOk(await master.post(`${app}/files`, 'x'.repeat(8_388_608)));
  const head = `HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${master.token}\r\n`;
  const download = async (localAddress: string) => {
    const socket = open(localAddress);
    socket.write(`GET ${app}/files/${id} ${head}\r\n`);
    const response = await responseOn(socket);
    socket.pause();
    return response.slice(0, 12);
  };
  const upload = async (localAddress: string) => {
    const socket = open(localAddress);
    socket.write(`POST ${app}/files ${head}Content-Length: 8\r\n\r\n`);
    return (await responseOn(socket)).slice(0, 12);
  };
  for (let count = 0; count < 250; count++) expect(await download('127.0.0.5')).toBe('HTTP/1.1 200');
  // Six of them are within the limit, and get no response as long as they send nothing.
  const uploads = Array.from({ length: 7 }, () => upload('127.0.0.5'));
  expect(await Promise.race(uploads)).toBe('HTTP/1.1 429');
  expect(await download('127.0.0.5')).toBe('HTTP/1.1 429');
  expect(await download('127.0.0.6')).toBe('HTTP/1.1 200');
  letGo();
  await Promise.allSettled(uploads);
  await expect.poll(() => download('127.0.0.5'), { timeout: 30_000 }).toBe('HTTP/1.1 200');
});

it('a response that is not read is cut off', async () => {
  const app = new H3().get(
    '/',
    () => new PreparedResponse({ status: 200, headers: [], body: 'x'.repeat(33_554_432) }),
  );
  const http = createServer(
    nodeListener(app, {
      onFailure: (_request, error) => expect.unreachable(String(error)),
      sendTimeoutMs: 500,
    }),
  ).listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  const closed = once(http, 'connection').then(([socket]) => once(socket, 'close'));
  const client = connect(port, '127.0.0.1').pause();
  sockets.push(client);
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await closed;
  http.close();
});
