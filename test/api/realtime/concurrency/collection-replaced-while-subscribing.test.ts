// A collection that is dropped and created again under its name while a stream of it is being opened.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openEvents } from '../event-client.ts';
import { place, type Rig, startRig } from '../rig.ts';

let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
});

afterAll(() => rig.close());

it('a stream that was asked for before that ends none of the new collection, and is one of them', async () => {
  const waiting = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const old = rig.gate.view('', () => true);
  const { rule } = rig.gate;
  rig.gate.rule = async () => {
    asked.resolve();
    await waiting.promise;
    return old;
  };
  const opening = openEvents(rig.port);
  await asked.promise;
  rig.gate.rule = rule;
  rig.gate.incarnation = '2';
  rig.gate.changed();
  const client = await openEvents(rig.port);
  waiting.resolve();
  const late = await opening;
  rig.write({ n: 1 });
  expect((await client.count(1))[0]?.data).toEqual({ n: 1 });
  expect((await late.count(1))[0]?.data).toEqual({ n: 1 });
});

it('what a write of the earlier collection has to tell late is told to nobody who watches the new one', async () => {
  const collection = 'drafts';
  const earlier = { ...place, collection, incarnation: rig.gate.incarnation };
  rig.gate.incarnation = '3';
  const client = await openEvents(rig.port, { collection });
  rig.hub.publish(earlier, { type: 'record_deleted', record: { n: 1 } });
  rig.write({ n: 2 }, 'record_created', collection);
  expect((await client.count(1))[0]?.data).toEqual({ n: 2 });
});
