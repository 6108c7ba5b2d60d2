// Who may read a file: its uploader, admins, and those who may get a record that holds it.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { as, type Caller, expectOk, send, serverUrl } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { authorization, upload } from '../../harness/file-app.ts';
import { scenario, title } from '../../harness/scenario.ts';

const cover = { name: 'cover', kind: 'file' };
const reader = { name: 'reader', kind: 'relation', target: 'users' };
const place = await scenario({
  collections: { posts: [title, cover, reader] },
  rules: {
    posts: {
      list: 'any',
      get: 'title = "public" || reader = @request.auth.id',
      create: 'auth',
      update: 'auth',
    },
  },
});
const { app, admin } = place;
const [ada, bob, eve] = [await place.user(), await place.user(), await place.user()];
const posts = place.records('posts');

/** The statuses of every way to read a file. */
async function ways({ token }: Caller, id: string): Promise<number[]> {
  const path = `${serverUrl()}${app.path}/files/${id}`;
  const ask = async (url: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await send(url, { method, headers: { ...authorization(as(token)), ...headers } });
    if (response.status === 401) expectError(response, 401, 'unauthorized');
    if (response.status === 403) expectError(response, 403, 'forbidden');
    return response.status;
  };
  return [
    await ask(path),
    (await fetch(path, { method: 'HEAD', headers: authorization(as(token)) })).status,
    await ask(path, { Range: 'bytes=0-0' }),
    await ask(path, { 'If-None-Match': `"${id}"` }),
    await ask(`${path}/meta`),
    await ask(`${path}/link`, {}, 'POST'),
  ];
}

const open = [200, 200, 206, 304, 200, 201];
const closed = [403, 403, 403, 403, 403, 403];
const closedToNobody = [401, 401, 401, 401, 401, 401];

async function expectReaders(id: string, readers: readonly Caller[]): Promise<void> {
  for (const caller of [ada, bob, eve, admin]) {
    expect(await ways(caller, id)).toEqual(readers.includes(caller) ? open : closed);
  }
  const nobody = readers.some(({ token }) => token === undefined);
  expect(await ways(as(), id)).toEqual(nobody ? open : closedToNobody);
}

describe('a file', () => {
  it('is read by its uploader and by admins while no record holds it', async () => {
    await expectReaders((await upload(ada, app, 'x')).id, [ada, admin, place.workspace.admin]);
    await expectReaders((await upload(admin, app, 'x')).id, [admin]);
  });

  it('is read by those who may get a record that holds it, until none does any more', async () => {
    const { id } = await upload(ada, app, 'x');
    const record = `${posts}/${expectOk(await ada.post(posts, { cover: id, reader: bob.id })).id}`;
    await expectReaders(id, [ada, admin, bob]);
    // To find a record in a list is not to get it.
    expect(expectOk(await eve.get(posts)).items[0].fields.cover).toBe(id);
    expectOk(await ada.patch(record, { reader: eve.id }));
    await expectReaders(id, [ada, admin, eve]);
    expectOk(await ada.patch(record, { cover: null }));
    await expectReaders(id, [ada, admin]);
    expectOk(await ada.patch(record, { cover: id }));
    await expectReaders(id, [ada, admin, eve]);
    expectOk(await admin.delete(record));
    await expectReaders(id, [ada, admin]);
  });

  it('is read without a token when its record is', async () => {
    const { id } = await upload(ada, app, 'x');
    const record = `${posts}/${expectOk(await ada.post(posts, { cover: id, title: 'public' })).id}`;
    await expectReaders(id, [ada, bob, eve, admin, as()]);
    expectOk(await ada.patch(record, { title: 'private' }));
    await expectReaders(id, [ada, admin]);
  });

  it('that does not exist looks to a stranger without a token like any other', async () => {
    const path = `${app.path}/files`;
    const { id } = await upload(ada, app, 'x');
    const [there, missing] = [await as().get(`${path}/${id}`), await as().get(`${path}/${randomUUID()}`)];
    expectError(missing, 401, 'unauthorized');
    expect(missing.body).toEqual(there.body);
    expectError(await bob.get(`${path}/${randomUUID()}`), 404, 'not_found');
    expectError(await bob.post(`${path}/${id}/link`, { expires_in: 0 }), 403, 'forbidden');
  });

  it('is read by a link as long as the link lasts, whatever becomes of its record', async () => {
    const { id } = await upload(ada, app, 'for bob');
    const record = `${posts}/${expectOk(await ada.post(posts, { cover: id, reader: bob.id })).id}`;
    const { url } = expectOk(await bob.post(`${app.path}/files/${id}/link`));
    expectOk(await ada.patch(record, { cover: null }));
    expect((await as().get(url)).text).toBe('for bob');
    expectError(await bob.post(`${app.path}/files/${id}/link`), 403, 'forbidden');
  });
});

describe('the get rule', () => {
  it('may look at the query, the email and the method of who reads, and at related records', async () => {
    await place.define('albums', [title, reader], { get: 'auth' });
    await place.define('photos', [cover, { name: 'album', kind: 'relation', target: 'albums' }], {
      get: '@request.method = "GET" && (@request.query.key = "k" || album.reader = @request.auth.id || ' +
        'album.title = @request.auth.email)',
    });
    const file = await upload(admin, app, 'x');
    const album = await place.make(place.records('albums'), { title: bob.email, reader: ada.id });
    await place.make(place.records('photos'), { cover: file.id, album });
    await expectReaders(file.id, [ada, bob, admin]);
    expectOk(await eve.get(`${app.path}/files/${file.id}/meta?key=k`));
    expectOk(await as().get(`${app.path}/files/${file.id}?key=k`));
    expectError(await eve.get(`${app.path}/files/${file.id}?key=wrong`), 403, 'forbidden');
  });

  it('counts for each of the fields and collections that hold a file, however many there are', async () => {
    const fields = Array.from({ length: 70 }, (_, index) => ({ ...cover, name: `f${index}` }));
    await place.define('wide', [...fields, reader], { get: 'reader = @request.auth.id', create: 'auth' });
    const { id } = await upload(ada, app, 'x');
    await place.make(place.records('wide'), { f0: id, reader: eve.id });
    await place.make(place.records('wide'), { f69: id, reader: bob.id });
    await expectReaders(id, [ada, bob, eve, admin]);
    const every = Object.fromEntries(fields.map(({ name }) => [name, id]));
    expect(expectOk(await bob.post(place.records('wide'), every)).fields).toMatchObject(every);
  });

  it('counts as it is by now, also when a field of its name is another', async () => {
    const state = { name: 'state', kind: 'text' };
    const changing = await place.define('changing', [cover, state], { get: 'state = "1"' });
    const { id } = await upload(ada, app, 'x');
    const record = `${changing}/${await place.make(changing, { cover: id, state: '1' })}`;
    // Through every connection of the pool, which has prepared the statement then.
    const statuses = () =>
      Promise.all(Array.from({ length: 8 }, async () => (await bob.get(`${app.path}/files/${id}`)).status));
    expect(await statuses()).toEqual(Array(8).fill(200));
    const path = `${place.collections}/changing`;
    const patch = (...fields: object[]) =>
      admin.patch(`${path}?confirm=drop`, { schema: { id: 'changing', kind: 'base', fields } });
    expectOk(await patch(cover));
    expect(await statuses()).toEqual(Array(8).fill(403));
    expectOk(await patch(cover, { ...state, kind: 'number' }));
    await place.setRules('changing', { get: 'state = 1' });
    expectOk(await admin.patch(record, { state: 1 }));
    expect(await statuses()).toEqual(Array(8).fill(200));
    expectOk(await admin.delete(`${place.collections}/changing?confirm=drop`));
    expect(await statuses()).toEqual(Array(8).fill(403));
  });

  it('of a profile shows its picture to whom it shows the profile', async () => {
    expectOk(
      await admin.post(place.collections, { schema: { id: 'people', kind: 'auth', fields: [cover] } }),
    );
    await place.setRules('people', { get: 'email = @request.auth.email', update: 'id = @request.auth.id' });
    for (const { email } of [ada, bob]) await place.make(place.records('people'), { email });
    const { id } = await upload(admin, app, 'x');
    expectError(await bob.patch(`${place.records('people')}/${bob.id}`, { cover: id }), 400, 'validation');
    expectOk(await admin.patch(`${place.records('people')}/${bob.id}`, { cover: id }));
    await expectReaders(id, [bob, admin]);
  });
});

describe('a record of one’s own', () => {
  it('takes no file that its writer may not read, and says the same as of one that does not exist', async () => {
    const { id } = await upload(ada, app, 'x');
    const own = expectOk(await bob.post(posts, { title: 'own' })).id;
    const batch = `${app.path}/batch`;
    const write = async (caller: Caller, cover: string) => [
      await caller.post(posts, { cover, reader: bob.id }),
      await caller.patch(`${posts}/${own}`, { cover }),
      await caller.patch(`${posts}/${own}`, { title: 'public', cover: cover.toUpperCase() }),
    ];
    const responses = [...await write(bob, id), ...await write(bob, randomUUID())];
    for (const response of responses) {
      expectError(response, 400, 'validation');
      expect(response.body.message).toBe('cover: there is no file with this id');
    }
    const requests = [
      { method: 'POST', collection: 'posts', body: { title: 'public' } },
      { method: 'PATCH', collection: 'posts', id: own, body: { cover: id } },
    ];
    expectError(await bob.post(batch, { requests }), 400, 'validation');
    expectError(await bob.patch(`${posts}/${randomUUID()}`, { cover: id }), 404, 'not_found');
    expect(expectOk(await admin.get(`${posts}/${own}`)).fields).toMatchObject({ title: 'own', cover: null });
    await expectReaders(id, [ada, admin]);
  });

  it('takes one that its writer may read: by another record, by an earlier write of a batch, as an admin', async () => {
    const { id } = await upload(ada, app, 'x');
    const shared = expectOk(await ada.post(posts, { cover: id, reader: bob.id })).id;
    expectOk(await bob.post(posts, { cover: id, reader: bob.id }));
    expectOk(await bob.patch(`${posts}/${shared}`, { title: 'seen', cover: id }));
    expectError(await eve.post(posts, { cover: id }), 400, 'validation');
    expectOk(
      await bob.post(`${app.path}/batch`, {
        requests: [
          { method: 'POST', collection: 'posts', body: { cover: id, reader: bob.id } },
          { method: 'POST', collection: 'posts', body: { cover: id, reader: eve.id } },
        ],
      }),
    );
    await expectReaders(id, [ada, bob, eve, admin]);
    const other = await upload(ada, app, 'x');
    expectOk(await admin.post(posts, { cover: other.id, reader: eve.id }));
    await expectReaders(other.id, [ada, eve, admin]);
  });

  it('names each field that it refuses, and no other', async () => {
    const back = { ...cover, name: 'back' };
    const cards = await place.define('cards', [cover, back], { create: 'auth', get: 'auth' });
    const [mine, hers] = [(await upload(bob, app, 'x')).id, (await upload(ada, app, 'x')).id];
    const none = 'there is no file with this id';
    expect((await bob.post(cards, { cover: mine, back: hers })).body.message).toBe(`back: ${none}`);
    expect((await bob.post(cards, { cover: hers, back: hers })).body.message)
      .toBe(`cover: ${none}; back: ${none}`);
    expectOk(await bob.post(cards, { cover: mine, back: mine }));
  });
});
