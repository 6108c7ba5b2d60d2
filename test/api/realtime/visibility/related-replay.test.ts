// Replays to views that look at related records: what is missed is read in turns, and what comes meanwhile waits behind it.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type EventClient, openEvents } from '../event-client.ts';
import type { Rig } from '../rig.ts';
import { numbersOf, type SlowReader, startRelatedRig } from '../slow-reader.ts';
import { openSocket } from '../socket-client.ts';

let rig: Rig;
let reader: SlowReader;

beforeEach(async () => ({ rig, reader } = await startRelatedRig()));
afterEach(() => rig.close());

/** Waits until something is read for the `turn`th time. */
async function asked(turn: number): Promise<void> {
  while (reader.asked.length < turn) await nextTurn();
}

/** Answers what is read from the `turn`th time on, until a client has so many events. */
async function responseFrom(turn: number, client: EventClient, events: number): Promise<void> {
  for (let next = turn; client.events.length < events;) {
    if (reader.asked.length >= next) await reader.response(next++);
    await nextTurn();
  }
}

it('a replay is sent before what came and was read while it was, and neither of them again', async () => {
  const live = await openEvents(rig.port, { filter: 'author' });
  const since = live.lastEventId;
  rig.write({ n: 0 });
  await reader.response(1);
  await live.count(1);
  const late = await openEvents(rig.port, { filter: 'author', since });
  await asked(2);
  rig.write({ n: 1 });
  await reader.response(3);
  await live.count(2);
  expect(late.events).toEqual([]);
  await reader.response(2);
  await late.count(2);
  rig.gate.changed();
  await nextTurn();
  rig.write({ n: 2 });
  await responseFrom(4, late, 3);
  expect(numbersOf(late)).toEqual([0, 1, 2]);
});

it('a replay of more than is read at once goes on, in order, whatever comes meanwhile', async () => {
  const { lastEventId: since } = await openEvents(rig.port, { filter: 'all' });
  const text = 'x'.repeat(200_000);
  for (const n of [0, 1, 2]) rig.write({ n, text });
  const late = await openEvents(rig.port, { filter: 'author', since });
  await asked(1);
  rig.write({ n: 3 });
  await responseFrom(1, late, 4);
  expect(numbersOf(late)).toEqual([0, 1, 2, 3]);
});

it('a replay that is read for a subscription which ends meanwhile is not sent', async () => {
  const { lastEventId: since } = await openEvents(rig.port, { filter: 'all' });
  rig.write({ n: 0 });
  const client = await openSocket(rig.port);
  await client.subscribe('a', { filter: 'author', since });
  await asked(1);
  client.say({ type: 'unsubscribe', id: 'a' });
  await client.settle();
  await reader.response(1);
  await nextTurn();
  await client.settle();
  expect(client.told.map(({ type }) => type)).toEqual(['subscribed']);
});
