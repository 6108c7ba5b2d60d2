// Live changes over a WebSocket of the real server.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk, serverUrl } from '../../harness/api.ts';
import { type EndUser, type Scenario, scenario } from '../../harness/scenario.ts';
import { openSocket } from './socket-client.ts';

const port = Number(new URL(serverUrl()).port);
const fields = [{ name: 'title', kind: 'text' }, { name: 'owner', kind: 'text' }];

let app: Scenario;
let ada: EndUser;
let path: string;

beforeAll(async () => {
  app = await scenario();
  ada = await app.user();
  path = app.collections.replace(/\/collections$/, '/realtime');
});

async function collection(list: string): Promise<{ name: string; records: string }> {
  const name = `c${randomUUID().slice(0, 8)}`;
  return { name, records: await app.define(name, fields, { list }) };
}

const open = (token?: string) =>
  openSocket(port, token === undefined ? {} : { Authorization: `Bearer ${token}` }, path);

describe('a WebSocket', () => {
  it('shows the changes of several collections, narrowed by rule and filter', async () => {
    const [mine, all] = [await collection('owner = @request.auth.id'), await collection('any')];
    const client = await open(ada.token);
    expect(await client.subscribe('a', { collection: mine.name })).toMatchObject({
      type: 'subscribed',
      id: 'a',
    });
    expect(await client.subscribe('b', { collection: all.name, filter: 'title = "yes"' }))
      .toMatchObject({ type: 'subscribed', id: 'b' });
    expectOk(await app.admin.post(mine.records, { title: 'hidden' }));
    const hers = expectOk(await app.admin.post(mine.records, { title: 'hers', owner: ada.id }));
    const changed = expectOk(await app.admin.patch(`${mine.records}/${hers.id}`, { title: 'still' }));
    expectOk(await app.admin.delete(`${mine.records}/${hers.id}`));
    expectOk(await app.admin.post(all.records, { title: 'no' }));
    const yes = expectOk(await app.admin.post(all.records, { title: 'yes' }));
    const told = (await client.count(6)).slice(2);
    expect(told).toMatchObject([
      { type: 'event', id: 'a', event: 'record_created', record: hers },
      { type: 'event', id: 'a', event: 'record_updated', record: changed },
      { type: 'event', id: 'a', event: 'record_deleted', record: changed },
      { type: 'event', id: 'b', event: 'record_created', record: yes },
    ]);
    client.socket.close();
  });

  it('replays since a cursor', async () => {
    const { name, records } = await collection('any');
    const first = await open();
    const subscribed = await first.subscribe('x', { collection: name });
    expectOk(await app.admin.post(records, { title: 'missed' }));
    await first.count(2);
    first.socket.close();
    const second = await open();
    await second.subscribe('x', { collection: name, since: subscribed?.['cursor'] });
    expect((await second.count(2))[1]).toMatchObject({ record: { fields: { title: 'missed' } } });
    second.socket.close();
  });

  it('says reset for a place that is not held, and goes on from the cursor that it names', async () => {
    const { name, records } = await collection('any');
    const client = await open();
    const since = 'AAAAAAAAAAAAAAAAAAAAAA';
    const subscribed = await client.subscribe('x', { collection: name, since });
    const cursor = subscribed?.['cursor'];
    expect((await client.count(2))[1]).toEqual({ type: 'reset', id: 'x', cursor });
    expectOk(await app.admin.post(records, { title: 'next' }));
    expect((await client.count(3))[2]).toMatchObject({
      type: 'event',
      record: { fields: { title: 'next' } },
    });
    const back = await open();
    await back.subscribe('x', { collection: name, since: cursor });
    expect((await back.count(2))[1]).toMatchObject({ type: 'event', record: { fields: { title: 'next' } } });
    client.socket.close();
    back.socket.close();
  });

  it('shows what goes along with a record and what loses a value, each to its subscription', async () => {
    const authors = await collection('any');
    const relation = { name: 'author', kind: 'relation', target: authors.name };
    const [books, notes] = [`b${randomUUID().slice(0, 8)}`, `n${randomUUID().slice(0, 8)}`];
    const bookRecords = await app.define(books, [{ ...relation, cascade_delete: true }], { list: 'any' });
    const noteRecords = await app.define(notes, [relation], { list: 'auth' });
    const client = await open(ada.token);
    for (const [id, name] of Object.entries({ authors: authors.name, books, notes })) {
      expect(await client.subscribe(id, { collection: name })).toMatchObject({ type: 'subscribed' });
    }
    const author = expectOk(await app.admin.post(authors.records, { title: 'author' }));
    const book = expectOk(await app.admin.post(bookRecords, { author: author.id }));
    const note = expectOk(await app.admin.post(noteRecords, { author: author.id }));
    await client.count(6);
    expectOk(await app.admin.delete(`${authors.records}/${author.id}`));
    const told = (await client.count(9)).slice(6);
    expect(told).toHaveLength(3);
    expect(told).toEqual(expect.arrayContaining([
      expect.objectContaining({ id: 'authors', event: 'record_deleted', record: author }),
      expect.objectContaining({ id: 'books', event: 'record_deleted', record: book }),
      expect.objectContaining({
        id: 'notes',
        event: 'record_updated',
        record: expect.objectContaining({ id: note.id, fields: { author: null } }),
      }),
    ]));
    client.socket.close();
  });

  it('refuses a subscription that the rule does not admit, until a token does', async () => {
    const { name } = await collection('auth');
    const client = await open();
    expect(await client.subscribe('x', { collection: name }))
      .toMatchObject({ type: 'error', id: 'x', code: 'unauthorized' });
    client.say({ type: 'auth', token: ada.token });
    expect(await client.subscribe('x', { collection: name })).toMatchObject({ type: 'subscribed', id: 'x' });
    expect(await client.subscribe('y', { collection: 'ghost' })).toMatchObject({
      id: 'y',
      code: 'not_found',
    });
    client.socket.close();
  });

  it('is told of a filter that is too long as a list is', async () => {
    const { name } = await collection('any');
    const client = await open();
    expect(await client.subscribe('x', { collection: name, filter: `title = '${'x'.repeat(4_087)}'` }))
      .toMatchObject({
        type: 'error',
        id: 'x',
        code: 'parse_error',
        message: expect.stringContaining('4096'),
      });
    client.socket.close();
  });

  it('sse.authz-live: is closed with 4401 within 5 s of the revocation of its token', async () => {
    const login = await app.workspace.login();
    const client = await open(login.token);
    expectOk(await login.post('/_/auth/logout'));
    const revoked = performance.now();
    expect((await client.closed).code).toBe(4401);
    expect(performance.now() - revoked).toBeLessThan(5_000);
  });

  it('sse.authz-live: loses a subscription whose rule or collection goes, and keeps the others', async () => {
    const [closing, dropped, staying] = [
      await collection('auth'),
      await collection('auth'),
      await collection('auth'),
    ];
    const client = await open(ada.token);
    await client.subscribe('closing', { collection: closing.name });
    await client.subscribe('dropped', { collection: dropped.name });
    await client.subscribe('staying', { collection: staying.name });
    await app.setRules(closing.name, { list: 'admin' });
    expect((await client.count(4))[3]).toMatchObject({ type: 'error', id: 'closing', code: 'forbidden' });
    expectOk(await app.admin.delete(`${app.collections}/${dropped.name}`));
    expect((await client.count(5))[4]).toMatchObject({ type: 'error', id: 'dropped', code: 'not_found' });
    expectOk(await app.admin.post(staying.records, { title: 'here' }));
    expect((await client.count(6))[5]).toMatchObject({ type: 'event', id: 'staying' });
    client.socket.close();
  });

  it('says what is gone to those who subscribe: the collection, the app or the workspace', async () => {
    const gone = await scenario();
    await gone.define('orders', fields, { list: 'any' });
    const client = await openSocket(port, {}, gone.collections.replace(/\/collections$/, '/realtime'));
    const codes: unknown[] = [];
    const { workspace, collections: collections } = gone;
    for (
      const [path, by] of [
        [`${collections}/orders`, gone.admin],
        [collections.replace(/\/collections$/, ''), workspace.admin],
        [workspace.path, workspace.master],
      ] as const
    ) {
      expectOk(await by.delete(path));
      codes.push((await client.subscribe('a'))?.['code']);
    }
    expect(codes).toEqual(['not_found', 'app_not_found', 'workspace_not_found']);
    client.socket.close();
  });
});
