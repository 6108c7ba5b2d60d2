// The WebSocket protocol over real sockets.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEvents } from './event-client.ts';
import { type Rig, startRig } from './rig.ts';
import { handshake, openSocket } from './socket-client.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(async () => {
  await rig.close();
  expect(rig.reports).toEqual([]);
});

describe('a WebSocket', () => {
  it('carries many subscriptions, each under its own name and filter', async () => {
    rig.gate.rule = ({ filter = '' }) =>
      rig.gate.view(filter, ({ record }) => filter === '' || record.kind === filter);
    const client = await openSocket(rig.port);
    expect(await client.subscribe('all')).toEqual({
      type: 'subscribed',
      id: 'all',
      cursor: expect.stringMatching(/^[\w-]{22}$/),
    });
    await client.subscribe('some "quoted" é', { filter: 'a' });
    await client.subscribe('notes', { collection: 'notes' });
    rig.write({ kind: 'a' });
    rig.write({ kind: 'b' }, 'record_updated');
    rig.write({ kind: 'c' }, 'record_deleted', 'notes');
    const events = (await client.count(7)).slice(3);
    const of = (id: string) =>
      events.filter((event) => event.id === id).map(({ event, record }) => [event, record]);
    expect(of('all')).toEqual([['record_created', { kind: 'a' }], ['record_updated', { kind: 'b' }]]);
    expect(of('some "quoted" é')).toEqual([['record_created', { kind: 'a' }]]);
    expect(of('notes')).toEqual([['record_deleted', { kind: 'c' }]]);
    expect(Object.keys(events[0] ?? {})).toEqual(['type', 'id', 'event', 'cursor', 'record']);
  });

  it.each([1, 100, 125, 126, 200, 65_000, 65_535, 65_536, 70_000, 1_000_000])(
    'carries a record of about %i bytes',
    async (size) => {
      const client = await openSocket(rig.port);
      await client.subscribe('a');
      rig.write({ text: 'é'.repeat(size / 2) });
      rig.write({ text: 'next' });
      const [, first, second] = await client.count(3);
      expect(first?.record).toEqual({ text: 'é'.repeat(size / 2) });
      expect(second?.record).toEqual({ text: 'next' });
    },
  );

  it('goes on from a cursor, its own or one of an event stream', async () => {
    const stream = await openEvents(rig.port);
    const client = await openSocket(rig.port);
    const before = await client.subscribe('a');
    for (let n = 0; n < 5; n++) rig.write({ n });
    const told = await client.count(6);
    await stream.count(5);
    const since = told[2]?.cursor;
    expect(stream.events[1]?.id).toBe(since);
    const back = await openSocket(rig.port);
    expect(await back.subscribe('b', { since })).toEqual({ type: 'subscribed', id: 'b', cursor: since });
    expect((await back.count(4)).slice(1).map(({ record }) => record)).toEqual([{ n: 2 }, { n: 3 }, {
      n: 4,
    }]);
    await back.subscribe('c', { since: before?.cursor });
    expect((await back.count(10)).slice(5).map(({ id, record }) => [id, record])).toEqual(
      [0, 1, 2, 3, 4].map((n) => ['c', { n }]),
    );
  });

  it('is told when what followed its cursor is gone', async () => {
    const client = await openSocket(rig.port);
    const response = await client.subscribe('a', { since: 'AAAAAAAAAAAAAAAAAAAAAA' });
    rig.write({ n: 1 });
    const told = await client.count(3);
    expect(told[1]).toEqual({ type: 'reset', id: 'a', cursor: response?.cursor });
    expect(told[2]).toMatchObject({ type: 'event', record: { n: 1 } });
  });

  it('may say more than 1 MiB when it waits for the responses', async () => {
    const client = await openSocket(rig.port);
    const long = `{"type":"ping"${' '.repeat(60_000)}}`;
    for (let times = 0; times < 20; times++) expect(await client.ask(long)).toEqual({ type: 'pong' });
  });

  it('begins now with an empty cursor, as without one', async () => {
    const client = await openSocket(rig.port);
    await client.subscribe('a', { since: '' });
    rig.write({ n: 1 });
    expect((await client.count(2)).map(({ type }) => type)).toEqual(['subscribed', 'event']);
  });

  it('stops one subscription and keeps the others', async () => {
    const client = await openSocket(rig.port);
    await client.subscribe('a');
    await client.subscribe('b');
    rig.write({ n: 1 });
    client.say({ type: 'unsubscribe', id: 'a' });
    await client.settle();
    const before = client.told.length;
    rig.write({ n: 2 });
    const told = await client.count(before + 1);
    expect(told.slice(before).map(({ id, record }) => [id, record])).toEqual([['b', { n: 2 }]]);
    expect(await client.subscribe('a')).toMatchObject({ type: 'subscribed', id: 'a' });
  });

  it('answers a ping, and protocol pings too', async () => {
    const client = await openSocket(rig.port);
    expect(await client.ask({ type: 'ping' })).toEqual({ type: 'pong' });
  });

  it('is closed with 1001 when the server stops', async () => {
    const client = await openSocket(rig.port);
    await client.subscribe('a');
    const stopping = rig.hub.close(1_000);
    expect(await client.closed).toEqual({ code: 1001, reason: 'the server is stopping' });
    await stopping;
    expect((await handshake(rig.port)).status).toBe(503);
  });

  it('ends one subscription when its rule throws, and no other', async () => {
    rig.gate.rule = ({ filter = '' }) =>
      rig.gate.view(filter, () => {
        if (filter === 'broken') throw new Error('of all things');
        return true;
      });
    const client = await openSocket(rig.port);
    await client.subscribe('bad', { filter: 'broken' });
    await client.subscribe('good');
    rig.write({ n: 1 });
    rig.write({ n: 2 });
    const told = (await client.count(5)).slice(2);
    expect(told.filter(({ id }) => id === 'bad')).toEqual([
      {
        type: 'error',
        id: 'bad',
        code: 'internal',
        message: 'the rule or filter of this subscription could not be evaluated',
      },
    ]);
    expect(told.filter(({ id }) => id === 'good').map(({ record }) => record)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(rig.reports.splice(0)).toEqual(['evaluate a subscription: Error: of all things']);
  });
});
