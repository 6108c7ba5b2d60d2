// Crowds of streams on a server of their own: how many there may be, what they cost, and readers that do not read.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isApi, processTree, residentMemory } from '../harness/processes.ts';
import { type ServerSettings, startServer, type TestServer } from '../harness/server.ts';
import { openStorefront, type Storefront, unlimited } from '../harness/storefront.ts';
import { expectOk } from '../harness/api.ts';
import { type EventClient, openEvents } from '../api/realtime/event-client.ts';
import { handshake, openSocket } from '../api/realtime/socket-client.ts';

let server: TestServer;
let store: Storefront;
let port: number;
let token: string;
let events: string;
let socketPath: string;

async function begin(config: ServerSettings): Promise<void> {
  server = await startServer({ config: { ...unlimited, ...config } });
  store = await openStorefront(server.url);
  port = Number(new URL(server.url).port);
  token = store.master.token ?? '';
  events = store.records.replace(/records$/, 'events');
  socketPath = store.records.replace(/collections\/.*$/, 'realtime');
  expectOk(await store.master.put(`${events.replace(/events$/, 'access_rules')}/list`, { template: 'any' }));
}

const watch = (bearer?: string) =>
  openEvents(port, { path: events, ...(bearer === undefined ? {} : { token: bearer }) });

describe('sse.slow-consumer: streams are capped', () => {
  beforeAll(() =>
    begin({
      http: { trust_proxy: true },
      realtime: { streams_per_principal: 3, streams_per_address: 6 },
    })
  );
  afterAll(() => server.stop());

  it('for each principal: streams, WebSockets and subscriptions together, until one closes', async () => {
    const first = await watch(token);
    const headers = { Authorization: `Bearer ${token}` };
    const client = await openSocket(port, headers, socketPath);
    expect(await client.subscribe('a')).toMatchObject({ type: 'subscribed' });
    expect(await client.subscribe('b')).toMatchObject({ id: 'b', code: 'too_many_requests' });
    const refused = await watch(token);
    expect([refused.status, JSON.parse(refused.body).code]).toEqual([429, 'too_many_requests']);
    expect(refused.head).toMatch(/^Retry-After: 10\r$/m);
    const upgrade = await handshake(port, { at: socketPath, headers });
    expect([upgrade.status, JSON.parse(upgrade.body).code, upgrade.headers['retry-after']])
      .toEqual([429, 'too_many_requests', '10']);
    first.socket.destroy();
    let again = await client.subscribe('b');
    // The server hears of the end of a connection on its own time.
    while (again?.['code'] === 'too_many_requests') again = await client.subscribe('b');
    expect(again).toMatchObject({ type: 'subscribed', id: 'b' });
    client.socket.close();
    await client.closed;
  });

  it('for each address, whoever asks', async () => {
    const open: EventClient[] = [];
    let last = await watch();
    while (last.status === 200) {
      open.push(last);
      last = await watch();
    }
    expect(last.status).toBe(429);
    expect(open.length).toBeLessThanOrEqual(6);
    expect((await watch(token)).status).toBe(429);
    expect((await handshake(port, { at: socketPath })).status).toBe(429);
    for (const { socket } of open) socket.destroy();
    while ((last = await watch()).status === 429);
    expect(last.status).toBe(200);
    last.socket.destroy();
  });

  it('auth.ip-key: for the addresses of an IPv6 /64 together', async () => {
    const watchFrom = (address: string) => openEvents(port, { path: events, address });
    const knock = async (address: string) =>
      (await handshake(port, { at: socketPath, headers: { 'X-Forwarded-For': address } })).status;
    const open = await Promise.all([1, 2, 3, 4, 5, 6].map((host) => watchFrom(`2001:db8:1:2::${host}`)));
    expect(open.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect((await watchFrom('2001:db8:1:2::7')).status).toBe(429);
    expect(await knock('2001:db8:1:2::8')).toBe(429);
    expect(await knock('2001:db8:1:3::1')).toBe(101);
    for (const { socket } of open) socket.destroy();
  });
});

describe('sse.slow-consumer: a server with many readers', () => {
  beforeAll(() => begin({ realtime: { streams_per_principal: 5_000 } }));
  afterAll(() => server.stop());

  /** Writes records with a long title, so many at once. */
  async function write(count: number, length = 100_000): Promise<void> {
    const title = 'x'.repeat(length);
    await Promise.all(Array.from({ length: count }, async () => {
      expectOk(await store.master.post(store.records, { id: randomUUID(), title }));
    }));
  }

  /** Opens a stream whose reader takes nothing any more. */
  async function stalledReader(): Promise<Socket> {
    const { socket } = await watch(token);
    socket.pause();
    return socket;
  }

  /** Whether the server has given a connection up, by what it does with the port that the client has. */
  async function isHeldByServer({ localPort }: Socket): Promise<boolean> {
    return (await tcpRow(port, localPort))?.isOpen === true;
  }

  /** Bytes that the kernel holds between the two ends of a connection. */
  async function onTheWay({ localPort }: Socket): Promise<number> {
    const [sent, received] = [await tcpRow(port, localPort), await tcpRow(localPort, port)];
    return (sent?.toSend ?? 0) + (received?.toRead ?? 0);
  }

  it('cuts a stalled one off once 1 MiB waits for it, and none of the others misses anything', async () => {
    const healthy = await Promise.all([1, 2, 3].map(() => watch(token)));
    const stalled = await stalledReader();
    expect(await isHeldByServer(stalled)).toBe(true);
    let written = 0;
    for (; await isHeldByServer(stalled) && written < 200; written += 10) await write(10);
    // What the kernel holds for the two ends comes on top.
    expect(written).toBeGreaterThan(10);
    expect(written).toBeLessThan(200);
    for (const client of healthy) {
      await client.count(written);
      expect(new Set(client.events.map(({ id }) => id)).size).toBe(written);
      client.socket.destroy();
    }
    stalled.destroy();
  });

  it('cuts one off within 10 s or so in which it takes nothing, however little waits', async () => {
    const [healthy, stalled] = [await watch(token), await stalledReader()];
    let written = 0;
    // Some more than the kernel takes, so that it waits in the server.
    do {
      await write(1);
      written++;
    } while (written * 100_000 - await onTheWay(stalled) < 300_000);
    const begun = performance.now();
    while (await isHeldByServer(stalled)) await new Promise((resolve) => setTimeout(resolve, 100));
    const took = performance.now() - begun;
    expect(took).toBeGreaterThan(5_000);
    expect(took).toBeLessThan(20_000);
    await healthy.count(written);
    healthy.socket.destroy();
    stalled.destroy();
  }, 60_000);

  it('pays no more than 100 MB for 1,000 that only listen', async () => {
    const tree = await processTree(server.pid);
    const api = tree.find(isApi)?.pid ?? expect.fail('no API process');
    // What the first ones bring along for good does not count.
    const first = await Promise.all(Array.from({ length: 100 }, () => watch(token)));
    const before = await residentMemory(api);
    const streams: EventClient[] = [];
    for (let round = 0; round < 20; round++) {
      streams.push(...await Promise.all(Array.from({ length: 50 }, () => watch(token))));
    }
    expect(streams.filter(({ status }) => status === 200)).toHaveLength(1_000);
    expect((await residentMemory(api) - before) * 1_048_576).toBeLessThanOrEqual(100_000_000);
    await write(1, 10);
    await Promise.all([...first, ...streams].map((client) => client.count(1)));
    for (const { socket } of [...first, ...streams]) socket.destroy();
  });
});

/**
 * One end of a connection on 127.0.0.1, as the kernel sees it; undefined when there is none.
 * https://www.kernel.org/doc/html/latest/networking/proc_net_tcp.html
 */
async function tcpRow(
  local = 0,
  remote = 0,
): Promise<{ isOpen: boolean; toSend: number; toRead: number } | undefined> {
  const hex = (n: number) => n.toString(16).toUpperCase().padStart(4, '0');
  const table = await readFile('/proc/net/tcp', 'utf8');
  const row = table.split('\n').find((line) =>
    line.includes(`0100007F:${hex(local)} 0100007F:${hex(remote)} `)
  );
  const [, , , state, queues = ''] = row?.trim().split(/\s+/) ?? [];
  if (state === undefined) return undefined;
  const [toSend = 0, toRead = 0] = queues.split(':').map((size) => Number.parseInt(size, 16));
  return { isOpen: state === '01', toSend, toRead };
}
