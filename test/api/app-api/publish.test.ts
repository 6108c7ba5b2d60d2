// Custom events of hooks, as subscribers get them.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk, serverUrl } from '../../harness/api.ts';
import { type EndUser, type Scenario, scenario } from '../../harness/scenario.ts';
import { tokenOf, type Watched, watched } from '../../harness/watched.ts';
import { openSocket } from '../realtime/socket-client.ts';

let app: Scenario;
/** Path of the app; `app.path` is that of its collections. */
let path: string;
let ada: EndUser;
let bob: EndUser;

beforeAll(async () => {
  app = await scenario();
  path = app.collections.replace(/\/collections$/, '');
  [ada, bob] = [await app.user(), await app.user()];
  const source = `routerAdd('POST', '/publish', async (e) => {
    const given = await e.request.json();
    try { return { told: await $app.realtime.publish(given.collection, given.event, given.data) }; }
    catch (error) { return { code: error.code, message: error.message }; }
  });`;
  expectOk(await app.admin.put(`${path}/hooks/publish.js`, { source }));
});

async function publish(collection: string, event: string, data: unknown) {
  return expectOk(await as().post(`${path}/custom/publish`, { collection, event, data }));
}

/** What came up to the event `end`, which everybody can see who sees anything. */
async function seenBy(
  { name, watch }: Watched,
  asks: Parameters<Watched['watch']>[0][],
  told: [string, unknown][],
): Promise<unknown[][]> {
  const clients = await Promise.all(asks.map((ask) => watch(ask)));
  for (const [event, data] of told) expect(await publish(name, event, data)).toEqual({ told: null });
  await publish(name, 'end', { owner: ada.id, title: 'end' });
  await Promise.all(clients.map((client) => client.until(({ body }) => body.includes('event: end'))));
  for (const { socket } of clients) socket.destroy();
  return clients.map(({ events }) => events.slice(0, -1).map(({ event, data }) => [event, data]));
}

describe('$app.realtime.publish', () => {
  it('reaches all who may list the collection, in order with its own events', async () => {
    const rooms = await watched(app);
    const client = await rooms.watch();
    await rooms.create({ title: 'before' });
    await publish(rooms.name, 'typing', { who: 'Ada', lines: 'a\nb' });
    await rooms.create({ title: 'after' });
    const [first, typing] = await client.count(3);
    expect(client.events.map(({ event }) => event)).toEqual(['record_created', 'typing', 'record_created']);
    expect(typing?.data).toEqual({ who: 'Ada', lines: 'a\nb' });
    client.socket.destroy();
    const again = await rooms.watch({ since: first?.id ?? '' });
    expect((await again.count(2)).map(({ event }) => event)).toEqual(['typing', 'record_created']);
    again.socket.destroy();
  });

  it('has a rule read its data in the place of a record, and reaches only admins where that is too little', async () => {
    const orders = await watched(app, { list: 'owner = @request.auth.id' });
    const told: [string, unknown][] = [
      ['shipped', { owner: ada.id, parcel: 1 }],
      ['shipped', { owner: bob.id, parcel: 2 }],
      ['shipped', { parcel: 3 }],
      ['shipped', 4],
      ['shipped', { owner: [ada.id], parcel: 5 }],
    ];
    const [hers, admins] = await seenBy(
      orders,
      [{ token: tokenOf(ada) }, { token: tokenOf(app.admin) }],
      told,
    );
    expect(hers).toEqual([['shipped', { owner: ada.id, parcel: 1 }]]);
    expect(admins).toEqual(told);
  });

  it('has a rule read a value as a record would hold it', async () => {
    const address = { name: 'address', kind: 'email' };
    const letters = await watched(app, { list: 'address = @request.auth.email' }, [address]);
    const client = await letters.watch({ token: tokenOf(ada) });
    const data = { address: ada.email.toUpperCase(), subject: 'Hello' };
    expect(await publish(letters.name, 'letter', data)).toEqual({ told: null });
    await publish(letters.name, 'end', { address: ada.email });
    await client.until(({ body }) => body.includes('event: end'));
    client.socket.destroy();
    expect(client.events[0]).toMatchObject({ event: 'letter', data });
  });

  it('is not let through by a rule that is met by what is missing', async () => {
    const notes = await watched(app, { list: 'owner != "x" || title = "end"' });
    // All that the filter reads is there, and not what the rule does.
    const asks = [{}, { filter: "title != 'x'" }];
    const told: [string, unknown][] = [['hidden', { owner: 'x' }], ['hidden', { title: 'a' }], [
      'hidden',
      {},
    ]];
    expect(await seenBy(notes, asks, told)).toEqual([[], []]);
  });

  it('has a rule follow its relations, and hides it where one is missing', async () => {
    const title = { name: 'title', kind: 'text' };
    const boards = await app.define('boards', [title]);
    const [open, closed] = [
      await app.make(boards, { title: 'open' }),
      await app.make(boards, { title: 'x' }),
    ];
    // The other record has a field of the same name, which the event shows.
    const fields = [title, { name: 'owner', kind: 'text' }, {
      name: 'board',
      kind: 'relation',
      target: 'boards',
    }];
    const cards = await watched(app, { list: "board.title != 'x' || title = 'end'" }, fields);
    const told: [string, unknown][] = [
      ['moved', { board: open, title: 'a' }],
      ['moved', { board: closed, title: 'b' }],
      ['moved', { title: 'c' }],
    ];
    // The last one says all that the rule reads.
    const client = await cards.watch();
    for (const [event, data] of told) await publish(cards.name, event, data);
    await publish(cards.name, 'end', { board: open, title: 'end' });
    await client.until(({ body }) => body.includes('event: end'));
    client.socket.destroy();
    expect(client.events.slice(0, -1).map(({ event, data }) => [event, data])).toEqual([told[0]]);
  });

  it('is narrowed by the filter of a subscriber', async () => {
    const rooms = await watched(app);
    const told: [string, unknown][] = [['typing', { title: 'a' }], ['typing', { title: 'b' }], [
      'typing',
      null,
    ]];
    const [inA, all] = await seenBy(rooms, [{ filter: "title in ['a', 'end']" }, {}], told);
    expect(inA).toEqual([['typing', { title: 'a' }]]);
    expect(all).toEqual(told);
  });

  it('is hidden from a filter that reads an id, unless its data has one', async () => {
    const rooms = await watched(app);
    const client = await rooms.watch({ filter: `id != '${ada.id}'` });
    await publish(rooms.name, 'typing', { title: 'a' });
    await publish(rooms.name, 'end', { id: bob.id });
    await client.until(({ body }) => body.includes('event: end'));
    client.socket.destroy();
    expect(client.events.map(({ event }) => event)).toEqual(['end']);
  });

  it('is a message of its own on a WebSocket', async () => {
    const rooms = await watched(app);
    const client = await openSocket(Number(new URL(serverUrl()).port), {}, `${path}/realtime`);
    await client.subscribe('s', { collection: rooms.name });
    const next = client.told.length + 1;
    await publish(rooms.name, 'typing', { who: 'Ada' });
    expect((await client.count(next)).at(-1)).toEqual({
      type: 'event',
      id: 's',
      event: 'typing',
      cursor: expect.any(String),
      data: { who: 'Ada' },
    });
    client.socket.close();
  });

  it('refuses names of the server, data that is too large, and collections that are not there', async () => {
    const { name } = await watched(app);
    const names = [
      'record_created',
      'Record_x',
      'reset',
      'unauthorized',
      'message',
      'error',
      'a b',
      'a\nb',
      '',
      '1',
    ];
    for (const event of names) {
      expect([event, await publish(name, event, 1)]).toEqual([
        event,
        expect.objectContaining({ code: 'validation' }),
      ]);
    }
    expect(await publish(name, 'big', 'x'.repeat(65_535))).toMatchObject({ code: 'validation' });
    expect(await publish(name, 'big', 'ü'.repeat(32_768))).toMatchObject({ code: 'validation' });
    expect(await publish(name, 'big', 'ü'.repeat(32_767))).toEqual({ told: null });
    expect(await publish('nope', 'x', 1)).toMatchObject({ code: 'not_found' });
    expect(await publish('users', 'x', 1)).toMatchObject({ code: 'not_found' });
  });
});
