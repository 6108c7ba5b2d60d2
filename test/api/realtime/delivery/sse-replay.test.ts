// Streams that come back with Last-Event-ID: what they missed, and what is gone.
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEvents } from '../event-client.ts';
import { type Rig, startRig } from '../rig.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(async () => {
  await rig.close();
  expect(rig.reports).toEqual([]);
});

describe('a stream that comes back', () => {
  it('gets what it missed, in order, then goes on live', async () => {
    const first = await openEvents(rig.port);
    rig.write({ n: 1 });
    rig.write({ n: 2 });
    await first.count(2);
    const since = first.lastEventId;
    first.socket.destroy();
    await first.closed;
    for (let n = 3; n <= 50; n++) rig.write({ n });
    const second = await openEvents(rig.port, { since });
    rig.write({ n: 51 });
    const numbers = (await second.count(49)).map(({ data }) => data);
    expect(numbers).toEqual(Array.from({ length: 49 }, (_, index) => ({ n: index + 3 })));
  });

  it('misses nothing even if it saw no event before', async () => {
    const first = await openEvents(rig.port);
    const since = first.lastEventId;
    first.socket.destroy();
    await first.closed;
    rig.write({ n: 1 });
    const second = await openEvents(rig.port, { since });
    expect((await second.count(1)).map(({ data }) => data)).toEqual([{ n: 1 }]);
  });

  it('amid a burst gets each event once', async () => {
    const always = await openEvents(rig.port);
    const since = always.lastEventId;
    for (let n = 0; n < 5; n++) rig.write({ n });
    const late: Promise<Awaited<ReturnType<typeof openEvents>>>[] = [];
    for (let n = 5; n < 300; n++) {
      rig.write({ n });
      if (n % 50 === 0) late.push(openEvents(rig.port, { since }));
      if (n % 3 === 0) await nextTurn();
    }
    const expected = Array.from({ length: 300 }, (_, n) => ({ n }));
    for (const client of [always, ...await Promise.all(late)]) {
      expect((await client.count(300)).map(({ data }) => data)).toEqual(expected);
    }
  });

  it('gets more than one turn’s worth of what it missed', async () => {
    const first = await openEvents(rig.port);
    const since = first.lastEventId;
    const text = 'x'.repeat(1_000);
    for (let n = 0; n < 2_000; n++) rig.write({ n, text });
    const second = await openEvents(rig.port, { since });
    rig.write({ n: 2_000, text });
    expect((await second.count(2_001)).map(({ data }) => (data as { n: number }).n)).toEqual(
      Array.from({ length: 2_001 }, (_, n) => n),
    );
  });

  it.each(['0', 'AAAAAAAAAAAAAAAAAAAAAA', 'x'.repeat(500)])(
    'with the unknown id %s is told so once, and goes on from now',
    async (since) => {
      const first = await openEvents(rig.port);
      rig.write({ n: 1 });
      await first.count(1);
      const client = await openEvents(rig.port, { since });
      rig.write({ n: 2 });
      const [reset, event] = await client.count(2);
      expect(client.body).toContain('\nevent: reset\ndata: {}\n\n');
      expect(reset?.event).toBe('reset');
      expect(event?.data).toEqual({ n: 2 });
      expect(client.events).toHaveLength(2);
      const again = await openEvents(rig.port, { since: reset?.id ?? '' });
      expect((await again.count(1)).map(({ data }) => data)).toEqual([{ n: 2 }]);
    },
  );

  it('with an empty id, which is none, begins now', async () => {
    const first = await openEvents(rig.port);
    rig.write({ n: 1 });
    await first.count(1);
    const client = await openEvents(rig.port, { since: '' });
    rig.write({ n: 2 });
    expect((await client.count(1)).map(({ data }) => data)).toEqual([{ n: 2 }]);
    expect(client.body).not.toContain('reset');
  });

  it('after a restart is told that its past is gone', async () => {
    const first = await openEvents(rig.port);
    rig.write({ n: 1 });
    await first.count(1);
    const restarted = await startRig();
    const client = await openEvents(restarted.port, { since: first.lastEventId });
    expect((await client.count(1))[0]?.event).toBe('reset');
    await restarted.close();
  });

  it('gets only what its rule and filter admit now', async () => {
    rig.gate.rule = ({ filter = '' }) =>
      rig.gate.view(filter, ({ record }) => filter === '' || record.kind === filter);
    const first = await openEvents(rig.port, { filter: 'a' });
    const since = first.lastEventId;
    for (const kind of ['a', 'b', 'a']) rig.write({ kind });
    const second = await openEvents(rig.port, { filter: 'b', since });
    expect((await second.count(1)).map(({ data }) => data)).toEqual([{ kind: 'b' }]);
  });

  it('to a new collection of the old name sees nothing of the old one', async () => {
    const first = await openEvents(rig.port);
    const since = first.lastEventId;
    rig.write({ secret: 'of the dropped one' });
    await first.count(1);
    first.socket.destroy();
    await first.closed;
    rig.gate.incarnation = '2';
    const second = await openEvents(rig.port, { since });
    rig.write({ n: 1 });
    const events = await second.count(2);
    expect(events.map(({ event }) => event)).toEqual(['reset', 'record_created']);
    expect(second.text).not.toContain('secret');
  });

  it('is told of the loss when its events were more than the log holds', async () => {
    const small = await startRig({ bounds: { log: { events: 10, bytes: 1_000_000 } } });
    const first = await openEvents(small.port);
    const since = first.lastEventId;
    for (let n = 0; n < 11; n++) small.write({ n });
    const second = await openEvents(small.port, { since });
    expect((await second.count(1))[0]?.event).toBe('reset');
    const third = await openEvents(small.port, { since: (await first.count(1))[0]?.id ?? '' });
    expect((await third.count(10)).map(({ data }) => data)).toEqual(
      Array.from({ length: 10 }, (_, n) => ({ n: n + 1 })),
    );
    await small.close();
  });

  it('finds its log for a while after the last subscriber left, and not for ever', async () => {
    const first = await openEvents(rig.port);
    const since = first.lastEventId;
    const gone = once(first.socket, 'close');
    first.socket.destroy();
    await gone;
    const second = await openEvents(rig.port, { since });
    expect(second.events).toEqual([]);
    second.socket.destroy();
    await second.closed;
    const small = await startRig({ bounds: { unusedMs: 0 } });
    const brief = await openEvents(small.port);
    brief.socket.destroy();
    await brief.closed;
    // The sweep drops the log once it has seen that nobody is there.
    for (;;) {
      const back = await openEvents(small.port, { since: brief.lastEventId });
      back.socket.destroy();
      await back.closed;
      if (back.events[0]?.event === 'reset') break;
    }
    await small.close();
  });
});
