// Whom another look at the rights of open streams keeps waiting, and what they are shown meanwhile; and who has gone by then.
import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fail } from '../../../../api/errors.ts';
import { openEvents } from '../event-client.ts';
import { type Rig, startRig } from '../rig.ts';
import { openSocket } from '../socket-client.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.close());

it('sse.authz-live: a stream is looked at again while the database of another app does not respond', async () => {
  const stuck = await openEvents(rig.port, { token: 'bob', path: '/stuck/orders' });
  const ada = await openEvents(rig.port, { token: 'ada' });
  const never = new Promise<never>(() => undefined);
  rig.gate.rule = ({ topic: { app } }) =>
    app === 'stuck' ? never : fail('forbidden', 'the rule does not allow that');
  rig.gate.changed({ workspace: 'acme' });
  await ada.closed;
  expect([ada.body.includes('forbidden'), stuck.socket.closed]).toEqual([true, false]);
  stuck.socket.destroy();
});

it('sse.authz-live: a stream is shown nothing by the old rule while the new one is being read, and misses nothing', async () => {
  const [bob, ada] = [
    await openEvents(rig.port, { token: 'bob' }),
    await openEvents(rig.port, { token: 'ada' }),
  ];
  const read = Promise.withResolvers<void>();
  rig.gate.rule = async ({ principal }) => {
    if (principal?.id === 'ada') await read.promise;
    return rig.gate.view(principal?.id ?? '', ({ record }) => record.owner === principal?.id);
  };
  rig.gate.changed();
  for (const [n, owner] of ['ada', 'bob', 'ada', 'bob'].entries()) rig.write({ n, owner });
  await bob.count(2);
  expect(ada.events).toEqual([]);
  rig.gate.changed();
  read.resolve();
  expect((await ada.count(2)).map(({ data }) => data)).toEqual([{ n: 0, owner: 'ada' }, {
    n: 2,
    owner: 'ada',
  }]);
  expect(ada.events).toHaveLength(2);
});

it('sse.authz-live: a stream is shown nothing by a rule that was changed again while it was being read', async () => {
  const ada = await openEvents(rig.port, { token: 'ada' });
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  rig.gate.rule = async () => {
    await first.promise;
    return rig.gate.view('all', () => true);
  };
  rig.gate.changed();
  const asked = new Promise<void>((resolve) => {
    rig.gate.rule = async ({ principal }) => {
      if (principal?.id === 'ada') {
        resolve();
        await second.promise;
      }
      return rig.gate.view(principal?.id ?? '', ({ record }) => record.owner === principal?.id);
    };
  });
  rig.gate.changed();
  rig.write({ n: 0, owner: 'bob' });
  first.resolve();
  await asked;
  const bob = await openEvents(rig.port, { token: 'bob' });
  rig.write({ n: 1, owner: 'bob' });
  await bob.count(1);
  second.resolve();
  rig.write({ n: 2, owner: 'ada' });
  await ada.until(({ events }) => events.some(({ data }) => JSON.stringify(data).includes('"n":2')));
  expect(ada.events.map(({ data }) => data)).toEqual([{ n: 2, owner: 'ada' }]);
});

it('sse.authz-live: the end of a subscription that was given up meanwhile is not that of a new one of its id', async () => {
  const socket = await openSocket(rig.port, { Authorization: 'Bearer ada' });
  expect(await socket.subscribe('a')).toMatchObject({ type: 'subscribed' });
  const read = Promise.withResolvers<void>();
  const refused = read.promise.then(() => fail('forbidden', 'the rule does not allow that'));
  const { rule } = rig.gate;
  rig.gate.rule = () => refused;
  rig.gate.changed();
  rig.gate.rule = rule;
  socket.say({ type: 'unsubscribe', id: 'a' });
  expect(await socket.subscribe('a')).toMatchObject({ type: 'subscribed' });
  read.resolve();
  await refused.catch(() => undefined);
  await socket.settle();
  rig.write({ n: 1 });
  expect((await socket.count(3))[2]).toMatchObject({ type: 'event', id: 'a' });
  socket.socket.close();
});

it('sse.authz-live: a subscription that was given up while its rule was read again stays so', async () => {
  const socket = await openSocket(rig.port, { Authorization: 'Bearer ada' });
  for (const id of ['a', 'b']) await socket.subscribe(id);
  const read = Promise.withResolvers<void>();
  rig.gate.rule = async () => {
    await read.promise;
    return rig.gate.view('', () => true);
  };
  rig.gate.changed();
  socket.say({ type: 'unsubscribe', id: 'a' });
  await socket.settle();
  read.resolve();
  await socket.settle();
  for (const n of [1, 2]) rig.write({ n });
  const told = await socket.count(4);
  expect(told.slice(2).map(({ id, record }) => [id, record])).toEqual([['b', { n: 1 }], ['b', { n: 2 }]]);
});

it('a stream that is gone before its rule is known, or was asked for its head alone, holds no seat', async () => {
  const small = await startRig({ bounds: { streams: { perPrincipal: 1, perAddress: 1 } } });
  const [asked, known] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { rule } = small.gate;
  small.gate.rule = async (wish) => {
    asked.resolve();
    await known.promise;
    return await rule(wish);
  };
  const opening = expect(openEvents(small.port)).rejects.toThrow('closed');
  await asked.promise;
  const [connection] = small.connections;
  if (connection === undefined) throw new Error('nobody has connected');
  connection.destroy();
  await once(connection, 'close');
  known.resolve();
  await opening;
  for (let times = 0; times < 2; times++) {
    expect((await fetch(`http://127.0.0.1:${small.port}/orders`, { method: 'HEAD' })).status).toBe(200);
  }
  expect((await openEvents(small.port)).status).toBe(200);
  await small.close();
});

it('a subscription whose connection is gone before its rule is known is shown nothing', async () => {
  const socket = await openSocket(rig.port);
  const [asked, known] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { rule } = rig.gate;
  let judged = 0;
  rig.gate.rule = async () => {
    asked.resolve();
    await known.promise;
    return rig.gate.view('gone', () => ++judged > 0);
  };
  socket.say({ type: 'subscribe', id: 'a', collection: 'orders' });
  await asked.promise;
  const [connection] = rig.connections;
  if (connection === undefined) throw new Error('nobody has connected');
  connection.destroy();
  await once(connection, 'close');
  rig.gate.rule = rule;
  known.resolve();
  const bob = await openEvents(rig.port);
  rig.write({ n: 1 });
  await bob.count(1);
  expect(judged).toBe(0);
});
