// Responses in many chunks: those of a few bytes each fail, and other requests go on between chunks.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ask, testEgress } from '../../harness/egress.ts';

const egress = testEgress();
let server: Server;
let host: string;

beforeAll(async () => {
  // Asked for /1000-of-1 it answers in a thousand chunks of one byte.
  server = createServer(({ url = '', socket }) => {
    const [count = 0, bytes = 0] = url.slice(1).split('-of-').map(Number);
    const chunks = `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`.repeat(count);
    socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  await egress.close();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

it.each([
  ['1000-of-1', 200],
  ['2000-of-15', 'too_large'],
  ['4000-of-20', 200],
])('%s: %s', async (chunks, outcome) => {
  expect(await ask(egress, `${host}/${chunks}`, { maxBytes: 100_000 })).toBe(outcome);
});

it('other work goes on after every few hundred chunks', async () => {
  const url = new URL(`${host}/4000-of-20`);
  const { body } = await egress.open({ method: 'GET', url, maxBytes: 100_000, timeoutMs: 60_000 });
  let [turns, parts] = [0, 0];
  const count = () => void (turns++, counting = setImmediate(count));
  let counting = setImmediate(count);
  for await (const part of body) parts += part.length > 0 ? 1 : 0;
  clearImmediate(counting);
  expect(parts).toBeGreaterThanOrEqual(4_000);
  expect(turns).toBeGreaterThanOrEqual(15);
});
