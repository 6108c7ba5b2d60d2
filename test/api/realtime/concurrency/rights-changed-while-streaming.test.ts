// Open streams whose rights change: tokens, rules, collections.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fail } from '../../../../api/errors.ts';
import { openEvents } from '../event-client.ts';
import { type Rig, startRig } from '../rig.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(() => rig.close());

describe('sse.authz-live: an open stream', () => {
  it('sees an event only if its record passes the rule, whatever the event', async () => {
    rig.gate.ownersOnly();
    const [ada, bob] = await Promise.all(['ada', 'bob'].map((token) => openEvents(rig.port, { token })));
    rig.write({ n: 1, owner: 'ada' });
    rig.write({ n: 2, owner: 'bob' });
    rig.write({ n: 1, owner: 'ada', text: 'new' }, 'record_updated');
    rig.write({ n: 1, owner: 'ada' }, 'record_deleted');
    rig.write({ n: 2, owner: 'bob' }, 'record_deleted');
    expect((await ada?.count(3))?.map(({ event, data }) => [event, data])).toEqual([
      ['record_created', { n: 1, owner: 'ada' }],
      ['record_updated', { n: 1, owner: 'ada', text: 'new' }],
      ['record_deleted', { n: 1, owner: 'ada' }],
    ]);
    await bob?.count(2);
    expect(bob?.text).not.toContain('ada');
  });

  it('sees an update that moves a record into its view, and nothing of one that moves it out', async () => {
    rig.gate.ownersOnly();
    const ada = await openEvents(rig.port, { token: 'ada' });
    rig.write({ id: 'x', owner: 'bob' });
    rig.write({ id: 'x', owner: 'ada' }, 'record_updated');
    rig.write({ id: 'x', owner: 'bob', text: 'secret of bob' }, 'record_updated');
    rig.write({ id: 'y', owner: 'ada' });
    expect((await ada.count(2)).map(({ event, data }) => [event, data])).toEqual([
      ['record_updated', { id: 'x', owner: 'ada' }],
      ['record_created', { id: 'y', owner: 'ada' }],
    ]);
    expect(ada.text).not.toContain('bob');
  });

  it.each(
    [
      ['expired', 'the access token has expired'],
      ['revoked', 'the access token has been revoked'],
    ] as const,
  )('whose token is %s ends with `unauthorized`, alone', async (state, message) => {
    const [ada, bob] = await Promise.all(['ada', 'bob'].map((token) => openEvents(rig.port, { token })));
    const anonymous = await openEvents(rig.port);
    rig.gate[state].add('ada');
    await ada?.closed;
    expect(ada?.body).toMatch(
      new RegExp(`\n\nevent: unauthorized\ndata: {"code":"unauthorized","message":"${message}"}\n\n$`),
    );
    rig.write({ n: 1 });
    await Promise.all([bob?.count(1), anonymous.count(1)]);
    expect(ada?.text).not.toContain('"n":1');
  });

  it('ends within 5 s by the bounds that the server runs with', async () => {
    const standard = await startRig({ bounds: { sweepMs: 1_000 } });
    const client = await openEvents(standard.port, { token: 'ada' });
    const before = performance.now();
    standard.gate.expired.add('ada');
    await client.closed;
    expect(performance.now() - before).toBeLessThan(5_000);
    await standard.close();
  });

  it('ends when its token cannot be checked', async () => {
    const client = await openEvents(rig.port, { token: 'ada' });
    rig.gate.tokenState = () => {
      throw new Error('no response');
    };
    await client.closed;
    expect(client.events.map(({ event }) => event)).toEqual(['unauthorized']);
    expect(rig.reports[0]).toBe('check a token: Error: no response');
  });

  it('is narrowed by a rule that becomes narrower, without a break', async () => {
    const [ada, bob] = await Promise.all(['ada', 'bob'].map((token) => openEvents(rig.port, { token })));
    rig.write({ n: 1, owner: 'bob' });
    await Promise.all([ada?.count(1), bob?.count(1)]);
    rig.gate.ownersOnly();
    rig.gate.changed();
    await nextTurn();
    rig.write({ n: 2, owner: 'bob' });
    rig.write({ n: 3, owner: 'ada' });
    expect((await ada?.count(2))?.at(-1)?.data).toEqual({ n: 3, owner: 'ada' });
    expect((await bob?.count(2))?.at(-1)?.data).toEqual({ n: 2, owner: 'bob' });
    expect(ada?.text).not.toContain('"n":2');
  });

  it('ends with `unauthorized` when the new rule refuses it', async () => {
    const client = await openEvents(rig.port, { token: 'ada' });
    const anonymous = await openEvents(rig.port);
    rig.gate.rule = ({ principal }) =>
      principal === null
        ? fail('unauthorized', 'this needs an access token')
        : fail('forbidden', 'the rule does not allow that');
    rig.gate.changed({ workspace: 'acme' });
    await Promise.all([client.closed, anonymous.closed]);
    expect(client.events.at(-1)).toMatchObject({ event: 'unauthorized', data: { code: 'forbidden' } });
    expect(anonymous.events.at(-1)).toMatchObject({ event: 'unauthorized', data: { code: 'unauthorized' } });
  });

  it('ends when its collection is dropped, also if a new one takes the name', async () => {
    const dropped = await openEvents(rig.port);
    rig.gate.rule = () => fail('not_found', 'there is no such collection');
    rig.gate.changed();
    await dropped.closed;
    const fresh = await startRig();
    const renewed = await openEvents(fresh.port);
    fresh.gate.incarnation = '2';
    fresh.gate.changed();
    await renewed.closed;
    expect(renewed.events).toEqual([]);
    await fresh.close();
  });

  it('ends when its rule cannot be read any more: it fails closed', async () => {
    const client = await openEvents(rig.port);
    rig.gate.rule = () => Promise.reject(new Error('no database'));
    rig.gate.changed();
    await client.closed;
    expect(rig.reports).toEqual(['review a subscription: Error: no database']);
  });

  it('is not disturbed by changes elsewhere', async () => {
    const client = await openEvents(rig.port);
    rig.gate.rule = () => fail('forbidden', 'the rule does not allow that');
    rig.gate.changed({ workspace: 'other' });
    rig.gate.changed({ workspace: 'acme', app: 'other' });
    await nextTurn();
    rig.write({ n: 1 });
    await client.count(1);
  });

  it('follows a rule that changed while the stream was being opened', async () => {
    const waiting = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const old = rig.gate.view('old', () => true);
    rig.gate.rule = async () => {
      asked.resolve();
      await waiting.promise;
      return old;
    };
    const opening = openEvents(rig.port, { token: 'ada' });
    await asked.promise;
    rig.gate.ownersOnly();
    rig.gate.changed();
    waiting.resolve();
    const client = await opening;
    await nextTurn();
    rig.write({ n: 1, owner: 'bob' });
    rig.write({ n: 2, owner: 'ada' });
    expect((await client.count(1))[0]?.data).toEqual({ n: 2, owner: 'ada' });
  });
});

describe('a rule or filter', () => {
  it('that throws ends the streams that have it, and no others', async () => {
    rig.gate.rule = ({ filter = '' }) =>
      rig.gate.view(filter, () => {
        if (filter === 'broken') throw new Error('of all things');
        return true;
      });
    const [broken, healthy] = await Promise.all(
      ['broken', 'healthy'].map((filter) => openEvents(rig.port, { filter })),
    );
    rig.write({ n: 1 });
    await broken?.closed;
    rig.write({ n: 2 });
    expect(await healthy?.count(2)).toHaveLength(2);
    expect(broken?.events).toEqual([{ id: expect.any(String), event: 'reset', data: {} }]);
    expect(rig.reports).toEqual(['evaluate a subscription: Error: of all things']);
  });

  it('that throws during a replay ends that stream', async () => {
    const first = await openEvents(rig.port);
    rig.write({ n: 1 });
    await first.count(1);
    rig.gate.rule = () =>
      rig.gate.view('broken', () => {
        throw new Error('of all things');
      });
    const second = await openEvents(rig.port, { since: /id: (\S+)/.exec(first.body)?.[1] ?? '' });
    await second.closed;
    expect(second.events).toEqual([{ id: expect.any(String), event: 'reset', data: {} }]);
  });

  it('that throws is not asked of the same event again by a browser that comes back, and not soon', async () => {
    const judged: unknown[] = [];
    rig.gate.rule = () =>
      rig.gate.view('', ({ record }) => {
        judged.push(record.n);
        if (record.n === 2) throw new Error('of all things');
        return true;
      });
    const before = await openEvents(rig.port);
    rig.write({ n: 1 });
    rig.write({ n: 2 });
    await before.closed;
    expect(before.body).toMatch(/\n\nretry: 30000\nid: \S+\nevent: reset\ndata: {}\n\n$/);
    judged.length = 0;
    const after = await openEvents(rig.port, { since: before.lastEventId });
    rig.write({ n: 3 });
    expect((await after.count(1)).map(({ data }) => data)).toEqual([{ n: 3 }]);
    expect(judged).toEqual([3]);
  });

  it('is evaluated once for each event and key, however many streams have it', async () => {
    const calls = new Map<string, number>();
    rig.gate.rule = ({ principal }) => {
      const key = principal?.id ?? '';
      return rig.gate.view(key, ({ record }) => {
        calls.set(key, (calls.get(key) ?? 0) + 1);
        return record.owner === key;
      });
    };
    const tokens = Array.from({ length: 40 }, (_, index) => index % 2 === 0 ? 'ada' : 'bob');
    const clients = await Promise.all(tokens.map((token) => openEvents(rig.port, { token })));
    for (const owner of ['ada', 'bob', 'ada', 'nobody']) rig.write({ owner });
    await Promise.all(clients.map((client, index) => client.count(index % 2 === 0 ? 2 : 1)));
    expect(Object.fromEntries(calls)).toEqual({ ada: 4, bob: 4 });
  });

  it('that refuses at the start is an ordinary error, and leaves no seat taken', async () => {
    const small = await startRig({ bounds: { streams: { perPrincipal: 1, perAddress: 1 } } });
    small.gate.rule = () => fail('parse_error', 'the filter ends too early');
    for (let times = 0; times < 3; times++) {
      const client = await openEvents(small.port, { filter: 'a =' });
      expect(client.status).toBe(400);
      expect(client.body).toContain('"code":"parse_error"');
    }
    await small.close();
  });
});
