// Readers that do not read, and crowds of streams: their cost for other clients.
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type EventClient, openEvents } from '../event-client.ts';
import { type Rig, type RigOptions, startRig } from '../rig.ts';
import { openSocket } from '../socket-client.ts';

const rigs: Rig[] = [];
async function start(options: RigOptions = {}): Promise<Rig> {
  const rig = await startRig(options);
  rigs.push(rig);
  return rig;
}
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

/** Checks as data comes that a client sees each number once and in order, without keeping what it saw. */
function countInOrder({ socket }: EventClient, total: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let rest = '';
    let next = 0;
    socket.removeAllListeners('data');
    socket.on('data', (chunk: string) => {
      const blocks = (rest + chunk).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const n = /"n":(\d+)/.exec(block)?.[1];
        if (n === undefined) continue;
        if (Number(n) !== next) return reject(new Error(`${n} came where ${next} was due`));
        next++;
      }
      if (next === total) resolve();
    });
    socket.once('close', () => reject(new Error(`closed after ${next}`)));
  });
}

/** The server's end of a client's connection. */
function serverSide(rig: Rig, { socket }: EventClient): Socket {
  const found = rig.connections.find(({ remotePort }) => remotePort === socket.localPort);
  if (found === undefined) throw new Error('no such connection');
  return found;
}

/** Publishes until bytes of a reader that has stopped wait in this process, or until more; returns how many events that took. */
async function fillUp(rig: Rig, reader: Socket, isEnough = () => reader.writableLength > 0): Promise<number> {
  const text = 'x'.repeat(20_000);
  let n = 0;
  while (!isEnough()) {
    rig.write({ n: n++, text });
    await nextTurn();
  }
  return n;
}

describe('sse.slow-consumer: a reader that does not read', () => {
  it('is cut off after 1 MiB is waiting, while every other gets all events in order', async () => {
    const rig = await start();
    const healthy = await Promise.all(Array.from({ length: 20 }, () => openEvents(rig.port)));
    const stalled = await Promise.all([1, 2].map(() => openEvents(rig.port)));
    const ends = stalled.map((client) => serverSide(rig, client));
    for (const { socket } of stalled) socket.pause();
    const total = 1_000;
    const all = Promise.all(healthy.map((client) => countInOrder(client, total)));
    let waited = 0;
    const text = 'x'.repeat(20_000);
    for (let n = 0; n < total; n++) {
      rig.write({ n, text });
      if (n % 5 === 0) await nextTurn();
      for (const end of ends) waited = Math.max(waited, end.writableLength);
    }
    await all;
    expect(ends.map(({ destroyed }) => destroyed)).toEqual([true, true]);
    expect(healthy.map(({ socket }) => socket.closed)).not.toContain(true);
    expect(waited).toBeGreaterThan(1_048_576);
    expect(waited).toBeLessThan(1_048_576 + 2 * 65_536);
  });

  it('leaves nothing with the system once it is cut off: its connection is reset, not ended', async () => {
    const rig = await start();
    const client = await openEvents(rig.port);
    const end = serverSide(rig, client);
    client.socket.pause();
    await fillUp(rig, end, () => end.destroyed);
    client.socket.resume();
    await client.closed;
    expect(client.failure).toMatchObject({ code: 'ECONNRESET' });
  });

  it('is cut off after 10 s in which nothing left, however little is waiting', async () => {
    const rig = await start();
    const client = await openEvents(rig.port, { token: 'ada' });
    const end = serverSide(rig, client);
    client.socket.pause();
    await fillUp(rig, end);
    await rig.gate.swept();
    rig.clock.now += 9_999;
    await rig.gate.swept();
    expect(end.destroyed).toBe(false);
    rig.clock.now += 1;
    await new Promise((resolve) => end.once('close', resolve));
  });

  it('is cut off soon after its token has expired, since it does not read that either', async () => {
    const rig = await start();
    const client = await openEvents(rig.port, { token: 'ada' });
    const end = serverSide(rig, client);
    client.socket.pause();
    await fillUp(rig, end);
    const other = await openEvents(rig.port, { token: 'bob' });
    rig.gate.expired.add('ada');
    for (let sweeps = 0; sweeps < 3; sweeps++) await rig.gate.swept();
    expect(end.destroyed).toBe(false);
    rig.clock.now += 2_000;
    await new Promise((resolve) => end.once('close', resolve));
    expect(other.socket.closed).toBe(false);
  });

  it('finds what it missed when it comes back', async () => {
    const rig = await start({ bounds: { log: { events: 10_000, bytes: 67_108_864 } } });
    const client = await openEvents(rig.port);
    const end = serverSide(rig, client);
    client.socket.pause();
    const written = await fillUp(rig, end, () => end.destroyed);
    client.socket.resume();
    await client.closed;
    const seen = client.events.length;
    expect(seen).toBeLessThan(written);
    const back = await openEvents(rig.port, { since: client.events.at(-1)?.id ?? '' });
    const numbers = [...client.events, ...await back.count(written - seen)].map(({ data }) =>
      (data as { n: number }).n
    );
    expect(numbers).toEqual(Array.from({ length: written }, (_, n) => n));
  });

  it('does not slow the writer: a change is only noted, and goes out in a later turn', async () => {
    const rig = await start();
    const clients = await Promise.all(Array.from({ length: 10 }, () => openEvents(rig.port)));
    const before = rig.connections.map(({ bytesWritten }) => bytesWritten);
    for (let n = 0; n < 100; n++) rig.write({ n });
    expect(rig.connections.map(({ bytesWritten }) => bytesWritten)).toEqual(before);
    await Promise.all(clients.map((client) => client.count(100)));
  });

  it('lets a burst for many readers wait for other work of the process', async () => {
    const rig = await start();
    const clients = await Promise.all(Array.from({ length: 200 }, () => openEvents(rig.port)));
    let turns = 0;
    // Each look at the clock costs 3 ms: a turn of deliveries is soon over.
    Object.defineProperty(rig.clock, 'now', { get: () => 1_000_000 + 3 * turns++ });
    const served = () => rig.connections.filter(({ bytesWritten }) => bytesWritten > opened).length;
    const opened = rig.connections[0]?.bytesWritten ?? 0;
    rig.write({ n: 1 });
    await nextTurn();
    expect(served()).toBeGreaterThan(0);
    expect(served()).toBeLessThan(200);
    await Promise.all(clients.map((client) => client.count(1)));
  });
});

describe('a collection that is written to faster than its rules can be asked', () => {
  it('keeps at most 16 MiB for that, and says reset to those who miss the rest', async () => {
    const rig = await start();
    rig.gate.rule = ({ filter = '' }) => rig.gate.view(filter, ({ record }) => record.n === 'last');
    const filters = Array.from({ length: 50 }, (_, n) => `f${n}`);
    const clients = await Promise.all(filters.map((filter) => openEvents(rig.port, { filter })));
    let looks = 0;
    // Each look at the clock costs 3 ms: a turn of deliveries asks three of the rules.
    Object.defineProperty(rig.clock, 'now', { get: () => 1_000_000 + 3 * looks++ });
    const text = 'x'.repeat(1_000_000);
    for (let n = 0; n < 40; n++) {
      rig.write({ n, text });
      await nextTurn();
    }
    rig.write({ n: 'last' });
    for (const client of clients) {
      await client.until(({ events }) => events.at(-1)?.event === 'record_created');
      const before = client.events.slice(0, -1).map(({ event }) => event);
      expect(new Set(before)).toEqual(new Set(['reset']));
    }
  });
});

describe('a reader that has missed much', () => {
  const bounds = { log: { events: 10_000, bytes: 67_108_864 } };
  const text = 'x'.repeat(20_000);

  it('is not cut off because rules change while it is sent that', async () => {
    const rig = await start({ bounds });
    const { lastEventId: since } = await openEvents(rig.port);
    const total = 600;
    for (let n = 0; n < total; n++) rig.write({ n, text });
    const client = await openEvents(rig.port, { since });
    client.socket.pause();
    const end = serverSide(rig, client);
    while (!end.writableNeedDrain) await nextTurn();
    for (let changes = 0; changes < 40; changes++) {
      rig.gate.changed();
      await nextTurn();
    }
    expect(end.writableLength).toBeLessThan(1_048_576);
    client.socket.resume();
    const numbers = (await client.count(total)).map(({ data }) => (data as { n: number }).n);
    expect(numbers).toEqual(Array.from({ length: total }, (_, n) => n));
  });

  it('is not cut off because that is of many collections', async () => {
    const rig = await start({ bounds });
    const names = Array.from({ length: 20 }, (_, n) => `orders${n}`);
    const opened = await Promise.all(names.map((collection) => openEvents(rig.port, { collection })));
    const cursors = opened.map(({ lastEventId }) => lastEventId);
    const each = 20;
    for (const name of names) {
      for (let n = 0; n < each; n++) rig.write({ n, text }, 'record_created', name);
    }
    const client = await openSocket(rig.port);
    for (const [index, since] of cursors.entries()) {
      client.say({ type: 'subscribe', id: `s${index}`, collection: names[index], since });
    }
    const told = await client.count(names.length * (each + 1));
    expect(told.filter(({ type }) => type === 'event')).toHaveLength(names.length * each);
    client.socket.close();
  });
});

describe('streams are capped', () => {
  it('for each principal, and for each address, with 429 and Retry-After', async () => {
    const rig = await start({ bounds: { streams: { perPrincipal: 2, perAddress: 3 } } });
    const ask = { token: 'ada', address: 'one' };
    const first = await openEvents(rig.port, ask);
    await openEvents(rig.port, ask);
    const third = await openEvents(rig.port, ask);
    expect(third.status).toBe(429);
    expect(third.head).toMatch(/Retry-After: 10/i);
    expect(third.body).toContain('"code":"too_many_requests"');
    expect((await openEvents(rig.port, { ...ask, token: 'bob' })).status).toBe(200);
    expect((await openEvents(rig.port, { address: 'one' })).status).toBe(429);
    expect((await openEvents(rig.port, { address: 'two' })).status).toBe(200);
    const end = serverSide(rig, first);
    first.socket.destroy();
    await new Promise((resolve) => end.once('close', resolve));
    await nextTurn();
    expect((await openEvents(rig.port, ask)).status).toBe(200);
  });
});
