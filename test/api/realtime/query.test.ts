// Rules and filters that read the query parameters of a stream.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, serverUrl } from '../../harness/api.ts';
import { type Scenario, scenario } from '../../harness/scenario.ts';
import { titlesOf, type Watched, watched } from '../../harness/watched.ts';
import { openEvents } from './event-client.ts';
import { openSocket, type SocketClient } from './socket-client.ts';

let app: Scenario;
let port: number;

beforeAll(async () => {
  app = await scenario();
  port = Number(new URL(serverUrl()).port);
});

const open = ({ events }: Watched, query: string) => openEvents(port, { path: `${events}?${query}` });
const socket = (query: string) =>
  openSocket(port, {}, `${app.collections.replace(/collections$/, 'realtime')}?${query}`);

/** The titles that a socket is told of, up to the last one. */
async function toldTo(client: SocketClient, from: number): Promise<unknown[]> {
  const titles = () => client.told.slice(from).map(({ record }) => Object(record).fields?.title);
  while (titles().at(-1) !== 'end') await client.count(client.told.length + 1);
  return titles();
}

describe('the parameters of its address', () => {
  it('let a caller in to a stream as to a list', async () => {
    const rooms = await watched(app, { list: '@request.query.key = "open"' });
    const [list, stream] = [rooms.records, rooms.events];
    for (
      const path of [list, stream, `${list}?key=shut`, `${stream}?key=shut`, `${stream}?key=shut&key=open`]
    ) {
      expect((await as().get(path)).status, path).toBe(401);
    }
    expect((await as().get(`${list}?key=open&key=shut`)).status).toBe(200);
    const client = await open(rooms, 'key=open&key=shut');
    await rooms.create({ title: 'a' });
    await client.count(1);
    expect(titlesOf(client)).toEqual(['a']);
    client.socket.destroy();
  });

  it('show each stream what its own ask for, also after the rules have changed', async () => {
    const rule = 'title = @request.query.room || title = "end"';
    const rooms = await watched(app, { list: rule });
    const [one, two, none] = [
      await open(rooms, 'room=1'),
      await open(rooms, 'room=2'),
      await open(rooms, ''),
    ];
    const write = async () => {
      for (const title of ['1', '2', 'end']) await rooms.create({ title });
    };
    await write();
    await Promise.all([one.count(2), two.count(2), none.count(1)]);
    await app.setRules(rooms.name, { list: `${rule} || title = "new"` });
    await write();
    await Promise.all([one.count(4), two.count(4), none.count(2)]);
    expect([one, two, none].map(titlesOf)).toEqual([
      ['1', 'end', '1', 'end'],
      ['2', 'end', '2', 'end'],
      ['end', 'end'],
    ]);
    for (const { socket } of [one, two, none]) socket.destroy();
  });

  it('are what its filter means by them', async () => {
    const rooms = await watched(app);
    const filter = encodeURIComponent('title in [@request.query.room, "end"]');
    const [one, two] = [
      await open(rooms, `filter=${filter}&room=1`),
      await open(rooms, `room=2&filter=${filter}`),
    ];
    for (const title of ['1', '2', 'end']) await rooms.create({ title });
    await Promise.all([one.count(2), two.count(2)]);
    expect([one, two].map(titlesOf)).toEqual([['1', 'end'], ['2', 'end']]);
    for (const { socket } of [one, two]) socket.destroy();
  });

  it('are those that a WebSocket was opened with, for each of its subscriptions', async () => {
    const rooms = await watched(app, {
      list: '@request.query.key = "open" && @request.query.filter != null',
    });
    const [client, stranger] = [await socket('key=open&room=1&key=shut'), await socket('key=shut')];
    const wish = { collection: rooms.name, filter: 'title in [@request.query.room, "end"]' };
    expect(await stranger.subscribe('a', wish)).toMatchObject({ type: 'error', code: 'unauthorized' });
    expect(await client.subscribe('a', wish)).toMatchObject({ type: 'subscribed' });
    for (const title of ['1', '2', 'end']) await rooms.create({ title });
    expect(await toldTo(client, 1)).toEqual(['1', 'end']);
    for (const { socket } of [client, stranger]) socket.close();
  });

  it('are no filter of a WebSocket', async () => {
    const rooms = await watched(app);
    const client = await socket(`filter=${encodeURIComponent('title = "nothing"')}`);
    expect(await client.subscribe('a', { collection: rooms.name })).toMatchObject({ type: 'subscribed' });
    for (const title of ['1', 'end']) await rooms.create({ title });
    expect(await toldTo(client, 1)).toEqual(['1', 'end']);
    client.socket.close();
  });
});
