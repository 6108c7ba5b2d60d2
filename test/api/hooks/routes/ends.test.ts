// What the response of a custom route gives back when it ends, however it does: its turn, and the process that has begun it.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AppHooks } from '../../../../api/hooks/app-hooks.ts';
import { type OwnHooks, ownHooks } from '../../../harness/hook-system.ts';

const source = `
routerAdd('GET', '/value', () => 'fine');
routerAdd('GET', '/response', () => new Response('fine'));
const streamed = (pieces, bytes) => new Response(new ReadableStream({ async pull(controller) {
  if (pieces-- === 0) return controller.close();
  await new Promise((resolve) => setTimeout(resolve, 1));
  controller.enqueue(new Uint8Array(bytes).fill(65));
} }));
routerAdd('GET', '/stream', () => streamed(3, 1));
routerAdd('GET', '/large', () => streamed(16, 1_048_576));
routerAdd('GET', '/refused', () => { throw new HttpError(418, 'teapot', 'short and stout'); });
routerAdd('GET', '/broken', () => { throw new Error('of the author'); });
routerAdd('GET', '/unsendable', () => new Response('x', { headers: Array.from({ length: 101 }, (_, n) => ['x-' + n, '1']) }));
routerAdd('GET', '/cut', () => new Response(new ReadableStream({ pull: () => { throw new Error('of the author'); } })));
routerAdd('GET', '/never', () => new Promise(() => {}));
`;

/** Of the turns that an app has, all but one are taken. */
const taken = 31;
const times = 3;

let own: OwnHooks;
let hooks: AppHooks;
const server = createServer((_request, response) => void serve(response));

beforeAll(async () => {
  own = await ownHooks();
  hooks = await own.app('routes', { 'a.ts': source });
  await hooks.reload(true);
  for (let turn = 0; turn < taken; turn++) await hooks.slots.acquire();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.close();
  await own.end();
});

async function serve(response: ServerResponse): Promise<void> {
  const body = () => Promise.resolve(Buffer.of());
  try {
    await own.serve(hooks, {
      response,
      headers: [],
      body,
      principal: null,
      requestId: 'test',
      appHost: undefined,
    });
  } catch {
    response.writeHead(500).end();
  }
}

function addressOf(path: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}/api/workspaces/acme/apps/routes/custom${path}`;
}

async function ask(path: string, signal?: AbortSignal): Promise<number | string> {
  try {
    const response = await fetch(addressOf(path), signal === undefined ? {} : { signal });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 'cut off';
  }
}

it.each<[string, number | string, number]>([
  ['/value', 200, 0],
  ['/response', 200, 0],
  ['/stream', 200, 0],
  ['/refused', 418, 0],
  ['/broken', 500, 1],
  ['/unsendable', 500, 0],
  ['/cut', 500, 1],
])('is its turn: %s', async (path, outcome, errors) => {
  const before = hooks.counters.errors;
  const outcomes: (number | string)[] = [];
  for (let time = 0; time < times; time++) outcomes.push(await ask(path));
  expect(outcomes).toEqual(Array(times).fill(outcome));
  expect(hooks.counters.errors - before).toBe(errors * times);
  expect(await ask('/value')).toBe(200);
});

it('is its turn also when the client leaves, without waiting for the end of its time', async () => {
  const before = hooks.counters.errors;
  for (let time = 0; time < times; time++) {
    const client = new AbortController();
    const left = ask('/never', client.signal);
    await expect.poll(() => hooks.live?.channel.inFlight, { interval: 1 }).toBe(1);
    client.abort();
    expect(await left).toBe('cut off');
  }
  expect(await ask('/value')).toBe(200);
  expect(hooks.counters.errors).toBe(before);
});

it('is the process, which ends then when another is there', async () => {
  const { live } = hooks;
  // More than the connection takes before it is read.
  const response = await fetch(addressOf('/large'));
  await hooks.reload(true);
  expect([live?.isOpen, live?.channel.isOpen]).toEqual([false, true]);
  expect((await response.arrayBuffer()).byteLength).toBe(16_777_216);
  await live?.exited;
});

it('is its turn also when there is no process that it could begin in', async () => {
  hooks.drop();
  for (let time = 0; time < times; time++) expect(await ask('/value')).toBe(500);
});
