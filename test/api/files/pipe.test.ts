// What `pour` says of a response that did not come to its end, and whose fault that was.
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { ClientDisconnected, pipe } from '../../../api/files/pipe.ts';

const announced = 1_000_000;

/** What became of pouring, and what the client had of it: all the bytes, or a connection that broke. */
interface Outcome {
  poured: unknown;
  received: number | 'cut off';
}

/** Pours these bytes into the response of a real server, to a client that reads as `take` does. */
async function outcomeOf(
  bytes: Readable,
  take: (response: IncomingMessage) => Promise<number> = lengthOf,
): Promise<Outcome> {
  const poured = Promise.withResolvers<unknown>();
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Length': announced });
    pipe(bytes, announced, response).then(() => poured.resolve('all'), poured.resolve);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const asked = request({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }).end();
    const [response] = await once(asked, 'response');
    const received = await take(response).catch((): 'cut off' => 'cut off');
    return { poured: await poured.promise, received };
  } finally {
    server.close();
  }
}

async function lengthOf(response: IncomingMessage): Promise<number> {
  let length = 0;
  for await (const chunk of response) length += chunk.length;
  return length;
}

const chunks = (count: number) => Array.from({ length: count }, () => Buffer.alloc(announced / 10));

it('is all there when it is, and its memory let go of', async () => {
  const all = chunks(10);
  expect(await outcomeOf(Readable.from(all))).toEqual({ poured: 'all', received: announced });
  expect(all.map(({ length }) => length)).toEqual(Array(10).fill(0));
});

it('says of bytes that end too soon how many are missing', async () => {
  expect(await outcomeOf(Readable.from(chunks(7)))).toEqual({
    poured: new Error('the stored bytes are 300000 fewer than the file has'),
    received: 'cut off',
  });
});

it('says so also of a single byte', async () => {
  const bytes = [...chunks(9), Buffer.alloc(announced / 10 - 1)];
  expect(await outcomeOf(Readable.from(bytes))).toEqual({
    poured: new Error('the stored bytes are 1 fewer than the file has'),
    received: 'cut off',
  });
});

it('sends no more than was announced, which would be taken for the next answer', async () => {
  expect(await outcomeOf(Readable.from(chunks(11)))).toEqual({
    poured: new Error('the stored bytes are more than the file has'),
    received: announced,
  });
});

it('says why bytes could not be read', async () => {
  const broken = new Error('EIO: i/o error, read');
  const failing = async function* () {
    yield* chunks(3);
    throw broken;
  };
  const { poured, received } = await outcomeOf(Readable.from(failing()));
  expect(poured).toBe(broken);
  expect(received).toBe('cut off');
});

it('says of a client that leaves that it did, and reads no further', async () => {
  const slow = new Readable({ read: () => undefined });
  slow.push(Buffer.alloc(announced / 10));
  const leave = async (response: IncomingMessage) => {
    await once(response, 'data');
    response.destroy();
    return 0;
  };
  const { poured } = await outcomeOf(slow, leave);
  expect(poured).toBeInstanceOf(ClientDisconnected);
  expect(slow.destroyed).toBe(true);
});

it('waits for no bytes when the client has left before the first', async () => {
  const never = new Readable({ read: () => undefined });
  const poured = Promise.withResolvers<unknown>();
  const server = createServer(({ socket }, response) => {
    socket.once('close', () => pipe(never, announced, response).then(poured.resolve, poured.resolve));
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(request({ host: '127.0.0.1', port }).end(), 'error');
  expect(await poured.promise).toBeInstanceOf(ClientDisconnected);
  expect(never.destroyed).toBe(true);
  server.close();
});

it('leaves nothing at a connection that goes on', async () => {
  const listeners: number[] = [];
  const server = createServer(({ socket }, response) => {
    response.once('finish', () => listeners.push(socket.listenerCount('close')));
    void pipe(Readable.from([Buffer.alloc(10)]), 10, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let count = 0; count < 3; count++) {
    const [response] = await once(request({ host: '127.0.0.1', port, agent }).end(), 'response');
    await lengthOf(response);
  }
  agent.destroy();
  server.close();
  expect(listeners).toHaveLength(3);
  expect(new Set(listeners).size).toBe(1);
});
