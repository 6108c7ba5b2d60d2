// Bodies in chunks: of a few bytes each they cost too much time, and however they come, others have theirs between.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, inject, it } from 'vitest';
import { limitChunks } from '../../../../api/http/protection/body-chunks.ts';

const chunks = (bytes: number, count: number) =>
  `${bytes.toString(16)}\r\n${' '.repeat(bytes)}\r\n`.repeat(count);

function begin(path: string, port = Number(new URL(inject('server').url).port)): Socket {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  return socket;
}

/** Sends chunks until the connection is closed. */
async function sendOn(socket: Socket, text: string): Promise<void> {
  socket.on('error', () => socket.destroy()); // a reset, where some of it was on its way
  while (!socket.destroyed) {
    await new Promise<void>((sent) => socket.write(text, () => sent()));
  }
}

const login = '/_/auth/admin/login';

it.each([[1, 1_000], [20, 3_000]])('chunks of %d bytes are read, %d of them', async (bytes, count) => {
  const socket = begin(login);
  socket.write(chunks(bytes, count) + '0\r\n\r\n');
  const [response] = await once(socket, 'data');
  expect(response).toMatch(/^HTTP\/1\.1 422 /);
  socket.destroy();
});

it('more of them that are shorter close the connection', async () => {
  const socket = begin(login);
  let response = '';
  socket.on('data', (text) => response += text);
  await sendOn(socket, chunks(15, 2_000));
  expect(response).toBe('');
});

it('they close it too when nothing reads them, as after the response of a route that does not exist', async () => {
  const socket = begin('/api/nowhere');
  const [response] = await once(socket, 'data');
  expect(response).toMatch(/^HTTP\/1\.1 404 /);
  await sendOn(socket, chunks(1, 2_000));
  // Not when its time is over: what the two kernels hold was sent meanwhile.
  expect(socket.bytesWritten).toBeLessThan(16_000_000);
});

it('one packet is read a turn', async () => {
  let most = 0;
  let inTurn = 0;
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => {
      if (inTurn === 0) setImmediate(() => void (inTurn = 0));
      inTurn += chunk.length;
      most = Math.max(most, inTurn);
    });
    request.on('end', () => response.end());
  });
  limitChunks(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = begin('/', (server.address() as AddressInfo).port);
  for (let times = 0; times < 64; times++) socket.write(chunks(1_000, 256));
  socket.write('0\r\n\r\n');
  await once(socket, 'data');
  expect(most).toBeLessThanOrEqual(65_536);
  socket.destroy();
  server.close();
});
