// Errors and rate limits of WebSocket messages.
import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEvents } from './event-client.ts';
import { type Rig, startRig } from './rig.ts';
import { openSocket } from './socket-client.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.close());

it('a client may say twenty things that mean nothing, and is closed with 1008 for the next one', async () => {
  const client = await openSocket(rig.port);
  for (let times = 0; times < 20; times++) {
    const [message, code] = times % 2 === 0 ? ['garbage', 'deserialization'] : ['{}', 'validation'];
    expect(await client.ask(message)).toMatchObject({ type: 'error', code });
  }
  // A message's worth comes back twenty times a second.
  rig.clock.now += 50;
  expect(await client.ask({ type: 'ping' })).toEqual({ type: 'pong' });
  client.say('garbage');
  expect((await client.closed).code).toBe(1008);
  expect(client.told).toHaveLength(21);
});

it('a member that has members, however deep, is refused by its name', async () => {
  const client = await openSocket(rig.port);
  const deep = '['.repeat(30_000) + ']'.repeat(30_000);
  expect(await client.ask(`{"type":"auth","token":${deep}}`)).toEqual({
    type: 'error',
    code: 'validation',
    message: 'token: must be a string',
    errors: [{ path: 'token', code: 'invalid', message: 'must be a string' }],
  });
  expect(rig.reports).toEqual([]);
});

it('an error has the name of a subscription only where that may be one, and says little of what is too long', async () => {
  const client = await openSocket(rig.port);
  const long = 'a'.repeat(60_000);
  for (const message of [{ type: 'unsubscribe', id: long }, { type: 'ping', [long]: {} }, { type: long }]) {
    const told = await client.ask(message);
    expect(told).toMatchObject({ type: 'error', code: 'validation' });
    expect(told).not.toHaveProperty('id');
    expect(JSON.stringify(told).length).toBeLessThan(500);
  }
});

it('a failure of ours is told as internal, and reported', async () => {
  const client = await openSocket(rig.port);
  rig.gate.rule = () => {
    throw new Error('of all things');
  };
  expect(await client.subscribe('a')).toEqual({
    type: 'error',
    id: 'a',
    code: 'internal',
    message: expect.not.stringContaining('of all things'),
  });
  expect(rig.reports).toEqual(['respond to a WebSocket message: Error: of all things']);
});

it('what a client that has gone had subscribed to is judged no more', async () => {
  let judged = 0;
  rig.gate.rule = ({ filter = '' }) => rig.gate.view(filter, () => filter === 'all' || ++judged > 0);
  const client = await openSocket(rig.port);
  const stream = await openEvents(rig.port, { filter: 'all' });
  await client.subscribe('a');
  const [connection] = rig.connections;
  if (connection === undefined) throw new Error('nobody has connected');
  const gone = once(connection, 'close');
  client.socket.close();
  await gone;
  rig.write({ n: 1 });
  await stream.count(1);
  expect(judged).toBe(0);
});
