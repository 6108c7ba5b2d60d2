// The partition of views with related records: its reads, their number, and its independence of other views.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EventClient, openEvents } from '../event-client.ts';
import type { Rig } from '../rig.ts';
import { author, numbersOf, SlowReader, startRelatedRig, viewOf } from '../slow-reader.ts';

let rig: Rig;
let reader: SlowReader;

beforeEach(async () => ({ rig, reader } = await startRelatedRig()));
afterEach(() => rig.close());

const watch = (filter: string, since?: string): Promise<EventClient> =>
  openEvents(rig.port, { filter, ...(since === undefined ? {} : { since }) });

describe('related records', () => {
  it('are read once for all who look at them, however many they are', async () => {
    const clients = await Promise.all(
      Array.from({ length: 20 }, (_, n) => watch(n % 2 ? 'author' : 'author 2')),
    );
    for (let n = 0; n < 5; n++) rig.write({ n });
    expect(await reader.response(1)).toBe(5);
    for (const client of clients) {
      await client.count(5);
      expect(numbersOf(client)).toEqual([0, 1, 2, 3, 4]);
    }
    expect(reader.asked).toHaveLength(1);
  });

  it('hold up nobody who looks at the record alone', async () => {
    const [looking, direct] = [await watch('author'), await watch('all')];
    rig.write({ n: 1 });
    await direct.count(1);
    rig.write({ n: 2 });
    await direct.count(2);
    expect(looking.events).toEqual([]);
    await reader.response(1);
    await reader.response(2);
    await looking.count(2);
    expect(numbersOf(looking)).toEqual([1, 2]);
  });

  it('come in the order of the events, whatever happens while they are read', async () => {
    const client = await watch('author');
    let n = 0;
    for (let round = 1; round <= 20; round++) {
      for (let more = round % 4; more >= 0; more--) rig.write({ n: n++ });
      await nextTurn();
      await reader.response(
        round,
        (change) => (change.record as { n: number }).n % 3 === 0 ? undefined : author,
      );
    }
    const expected = Array.from({ length: n }, (_, at) => at).filter((at) => at % 3 !== 0);
    while (client.events.length < expected.length) {
      await reader.response(reader.asked.length);
      await nextTurn();
    }
    expect(numbersOf(client)).toEqual(expected);
  });

  it('end only the subscriptions that ask for them when they cannot be read', async () => {
    const [looking, direct] = [await watch('author'), await watch('all')];
    rig.write({ n: 1 });
    await reader.response(1, () => {
      throw new Error('the database does not respond');
    });
    await looking.closed;
    expect(looking.events).toEqual([]);
    rig.write({ n: 2 });
    await direct.count(2);
    expect(numbersOf(direct)).toEqual([1, 2]);
    expect(rig.reports).toEqual(['evaluate a subscription: Error: the database does not respond']);
  });

  it('are read for a replay too, and what comes meanwhile is sent behind it', async () => {
    const first = await watch('author');
    rig.write({ n: 1 });
    await reader.response(1);
    await first.count(1);
    const back = watch('author', first.events[0]?.id ?? '');
    rig.write({ n: 2 });
    await reader.response(2);
    await first.count(2);
    const client = await back;
    const late = await watch('author', first.events[0]?.id ?? '');
    rig.write({ n: 3 });
    for (let more = 3; late.events.length < 2 || client.events.length < 2; more++) {
      if (reader.asked.length >= more) await reader.response(more);
      else more--;
      await nextTurn();
    }
    expect([numbersOf(late), numbersOf(client)]).toEqual([[2, 3], [2, 3]]);
  });

  it('are read anew when the rule changes meanwhile, so that the new one judges', async () => {
    const client = await watch('author');
    rig.write({ n: 1 });
    await nextTurn();
    const before = reader;
    reader = new SlowReader();
    rig.gate.rule = ({ filter = '' }) => ({ ...viewOf(rig.gate, filter, reader), key: 'narrowed' });
    rig.gate.changed();
    await before.response(1);
    await reader.response(1, () => undefined);
    rig.write({ n: 2 });
    await reader.response(2);
    await client.count(1);
    expect(numbersOf(client)).toEqual([2]);
  });

  it('of a replay are read anew when the rule changes meanwhile, and nothing is lost', async () => {
    const direct = await watch('all');
    const since = direct.lastEventId;
    for (const n of [1, 2]) rig.write({ n });
    await direct.count(2);
    const back = await watch('author', since);
    const before = reader;
    while (before.asked.length === 0) await nextTurn();
    reader = new SlowReader();
    rig.gate.rule = ({ filter = '' }) => ({ ...viewOf(rig.gate, filter, reader), key: `narrowed ${filter}` });
    rig.gate.changed();
    await before.response(1);
    expect(await reader.response(1)).toBe(2);
    await back.count(2);
    expect(numbersOf(back)).toEqual([1, 2]);
  });

  it('of a replay that has caught up are sent once, also while others wait for theirs', async () => {
    const client = await watch('author');
    const since = client.lastEventId;
    rig.write({ n: 0 });
    while (reader.asked.length === 0) await nextTurn();
    rig.write({ n: 1 });
    const late = await watch('author', since);
    while (reader.asked.length < 2) await nextTurn();
    rig.write({ n: 2 });
    for (let next = 1; late.events.length < 3 || client.events.length < 3;) {
      if (reader.asked.length >= next) await reader.response(next++);
      await nextTurn();
    }
    expect([numbersOf(late), numbersOf(client)]).toEqual([[0, 1, 2], [0, 1, 2]]);
  });

  it('are no longer asked for once the rule looks at none, and nothing is lost or sent twice', async () => {
    const client = await watch('author');
    rig.write({ n: 1 });
    await nextTurn();
    rig.gate.rule = () => rig.gate.view('all', () => true);
    rig.gate.changed();
    await client.count(1);
    await reader.response(1);
    rig.write({ n: 2 });
    await client.count(2);
    expect(numbersOf(client)).toEqual([1, 2]);
    rig.gate.rule = ({ filter = '' }) => viewOf(rig.gate, filter, reader);
    rig.gate.changed();
    await nextTurn();
    rig.write({ n: 3 });
    await reader.response(2);
    await client.count(3);
    expect(numbersOf(client)).toEqual([1, 2, 3]);
  });

  it('that take too long cost their subscribers the events of that time, with a reset, and nobody memory', async () => {
    const client = await watch('author');
    rig.write({ n: 0 });
    await nextTurn();
    const text = 'x'.repeat(100_000);
    for (let n = 1; n <= 50; n++) rig.write({ n, text });
    await reader.response(1);
    await client.until(({ events }) => events.some(({ event }) => event === 'reset'));
    rig.write({ n: 51 });
    for (let next = 2; client.events.at(-1)?.event === 'reset' || numbersOf(client).at(-1) !== 51;) {
      if (reader.asked.length >= next) await reader.response(next++);
      await nextTurn();
    }
    const kinds = client.events.map(({ event }) => event);
    expect(kinds[0]).toBe('reset');
    expect(numbersOf(client).length).toBeLessThan(20);
  });

  it('that take too long are missed by a replay that has caught up, too, and it is told', async () => {
    const client = await watch('author');
    const since = client.lastEventId;
    rig.write({ n: 0 });
    while (reader.asked.length === 0) await nextTurn();
    const late = await watch('author', since);
    while (reader.asked.length < 2) await nextTurn();
    const text = 'x'.repeat(100_000);
    for (let n = 1; n <= 50; n++) rig.write({ n, text });
    await late.until(({ events }) => events.some(({ event }) => event === 'reset'));
    await client.until(({ events }) => events.some(({ event }) => event === 'reset'));
    // What was being read for it is among what it misses.
    await reader.response(2);
    rig.write({ n: 51 });
    for (let next = 1; numbersOf(late).at(-1) !== 51;) {
      if (reader.asked.length >= next) await reader.response(next++);
      await nextTurn();
    }
    expect(numbersOf(late)).not.toContain(0);
  });
});
