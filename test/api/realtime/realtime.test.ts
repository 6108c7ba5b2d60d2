// Live changes as Server-Sent Events of the real server.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk } from '../../harness/api.ts';
import { type EndUser, type Scenario, scenario } from '../../harness/scenario.ts';
import { titlesOf, watched, watchedFields } from '../../harness/watched.ts';

let app: Scenario;
let ada: EndUser;

beforeAll(async () => {
  app = await scenario();
  ada = await app.user();
});

describe('an event stream', () => {
  it('shows a create, an update and a delete in the exact framing', async () => {
    const orders = await watched(app);
    const client = await orders.watch();
    const created = await orders.create({ title: 'one' });
    const changed = await orders.change(created.id, { title: 'two\nlines' });
    await orders.remove(created.id);
    const events = await client.count(3);
    const [first, second, third] = events.map(({ id }) => id);
    const opening = client.body.split('\n\n', 1)[0] ?? '';
    expect(opening).toMatch(/^: connected\nretry: 3000\nid: [\w-]{22}$/);
    expect(client.body.slice(opening.length + 2)).toBe(
      `id: ${first}\nevent: record_created\ndata: ${JSON.stringify(created)}\n\n` +
        `id: ${second}\nevent: record_updated\ndata: ${JSON.stringify(changed)}\n\n` +
        `id: ${third}\nevent: record_deleted\ndata: ${JSON.stringify(changed)}\n\n`,
    );
    client.socket.destroy();
  });

  it('has the headers of every response', async () => {
    const orders = await watched(app);
    const client = await orders.watch();
    expect(client.head).toMatch(/^HTTP\/1\.1 200 /);
    expect(client.head).toContain('Content-Type: text/event-stream; charset=utf-8');
    expect(client.head).toMatch(/^X-Request-Id: \S+\r$/m);
    expect(client.head).toContain('X-Content-Type-Options: nosniff');
    expect(client.head).not.toMatch(/^(Transfer-Encoding|Content-Length):/im);
    client.socket.destroy();
  });

  it('answers HEAD without a body', async () => {
    const orders = await watched(app);
    const client = await orders.watch({ method: 'HEAD' });
    await client.closed;
    expect([client.status, client.body]).toEqual([200, '']);
  });

  it('says nothing of writes that fail', async () => {
    const orders = await watched(app, { list: 'any', create: 'admin' });
    const client = await orders.watch();
    expect((await ada.post(orders.records, { title: 'refused' })).status).toBe(403);
    expect((await app.admin.post(orders.records, { title: 5 })).status).toBe(400);
    const { id } = await orders.create({ title: 'taken' });
    expect((await app.admin.post(orders.records, { id, title: 'again' })).status).toBe(409);
    expect((await app.admin.patch(`${orders.records}/${randomUUID()}`, { title: 'nobody' })).status).toBe(
      404,
    );
    await orders.create({ title: 'last' });
    await client.count(2);
    expect(titlesOf(client)).toEqual(['taken', 'last']);
    client.socket.destroy();
  });

  it('keeps the order in which writes are answered', async () => {
    const orders = await watched(app);
    const client = await orders.watch();
    const { id } = await orders.create({ title: '0' });
    for (let turn = 1; turn <= 20; turn++) await orders.change(id, { title: String(turn) });
    await client.count(21);
    expect(titlesOf(client)).toEqual(Array.from({ length: 21 }, (_, turn) => String(turn)));
    client.socket.destroy();
  });

  it('is narrowed by a filter', async () => {
    const orders = await watched(app);
    const client = await orders.watch({ filter: 'title ~ "a%"' });
    await orders.create({ title: 'beta' });
    await orders.create({ title: 'alpha' });
    await orders.create({ title: 'apple' });
    await client.count(2);
    expect(titlesOf(client)).toEqual(['alpha', 'apple']);
    client.socket.destroy();
  });

  it.each([
    ['title = ', 400, 'parse_error'],
    ['nope = 1', 400, 'unknown_column'],
  ])('refuses the filter %s', async (filter, status, code) => {
    const orders = await watched(app);
    const response = await as().get(`${orders.events}?filter=${encodeURIComponent(filter)}`);
    expect([response.status, response.body.code]).toEqual([status, code]);
  });

  it('replays what was missed, and nothing that was not', async () => {
    const orders = await watched(app);
    const before = await orders.watch();
    await orders.create({ title: 'seen' });
    await before.count(1);
    before.socket.destroy();
    await before.closed;
    await orders.create({ title: 'missed' });
    const after = await orders.watch({ since: before.lastEventId });
    await orders.create({ title: 'live' });
    await after.count(2);
    expect(titlesOf(after)).toEqual(['missed', 'live']);
    after.socket.destroy();
  });

  it('says reset for a place that is not held', async () => {
    const orders = await watched(app);
    const client = await orders.watch({ since: 'AAAAAAAAAAAAAAAAAAAAAA' });
    const [event] = await client.count(1);
    expect(event).toMatchObject({ event: 'reset', data: {} });
    client.socket.destroy();
  });

  it('tells of a batch in its order once it is committed, and nothing of one that fails', async () => {
    const orders = await watched(app);
    const client = await orders.watch();
    const path = app.collections.replace(/collections$/, 'batch');
    const id = randomUUID();
    const create = { method: 'POST', collection: orders.name, body: { id, title: 'one' } };
    const change = { method: 'PATCH', collection: orders.name, id, body: { title: 'two' } };
    const remove = { method: 'DELETE', collection: orders.name, id };
    expect((await app.admin.post(path, { requests: [create, create] })).status).toBe(409);
    expectOk(await app.admin.post(path, { requests: [create, change, remove] }));
    await client.count(3);
    expect(client.events.map(({ event }) => event)).toEqual([
      'record_created',
      'record_updated',
      'record_deleted',
    ]);
    expect(titlesOf(client)).toEqual(['one', 'two', 'two']);
    client.socket.destroy();
  });

  it('tells of records that go with another, and of those that lose a value', async () => {
    const authors = await watched(app);
    const relation = { name: 'author', kind: 'relation', target: authors.name };
    const books = await watched(app, { list: 'any' }, [...watchedFields, {
      ...relation,
      cascade_delete: true,
    }]);
    const notes = await watched(app, { list: 'any' }, [...watchedFields, relation]);
    const { id: author } = await authors.create({ title: 'author' });
    const book = await books.create({ title: 'book', author });
    const note = await notes.create({ title: 'note', author });
    const [onBooks, onNotes] = [await books.watch(), await notes.watch()];
    await authors.remove(author);
    const [gone] = await onBooks.count(1);
    expect(gone).toMatchObject({ event: 'record_deleted', data: book });
    const [emptied] = await onNotes.count(1);
    expect(emptied).toMatchObject({
      event: 'record_updated',
      data: { id: note.id, fields: { title: 'note', author: null } },
    });
    onBooks.socket.destroy();
    onNotes.socket.destroy();
  });
});
