// Records together with the files that they hold.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk, serverUrl } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { upload } from '../../../harness/file-app.ts';
import { type EndUser, type Scenario, scenario, title } from '../../../harness/scenario.ts';

let app: Scenario;
let user: EndUser;
let other: EndUser;
let posts: string;
let authors: string;

const photo = { name: 'photo', kind: 'file' };

beforeAll(async () => {
  app = await scenario({
    collections: {
      authors: [title, photo, { name: 'hidden', kind: 'bool' }],
      posts: [
        title,
        { name: 'cover', kind: 'file' },
        { name: 'scans', kind: 'file', many: true },
        { name: 'author', kind: 'relation', target: 'authors' },
        { name: 'owner', kind: 'relation', target: 'users' },
      ],
    },
    rules: {
      authors: { list: 'any', get: 'hidden != true' },
      posts: { list: 'any', get: 'owner = @request.auth.id' },
    },
    hooks: {
      'list.js': `
        routerAdd('GET', '/covers', async () => {
          const { items } = await $app.records.list('posts', { expand: 'cover,scans' });
          return items.map(({ expand }) => [expand.cover?.filename ?? null, expand.scans.map(({ size }) => size)]);
        });`,
    },
  });
  posts = app.records('posts');
  authors = app.records('authors');
  [user, other] = [await app.user(), await app.user()];
});

const file = async (name: string, content = 'bytes', caller: Caller = app.admin): Promise<string> =>
  (await upload(caller, app.app, content, { name, type: 'image/png' })).id;
const expansion = async (caller: Caller, path: string) => expectOk(await caller.get(path)).expand;
const listed = async (caller: Caller, id: string, expand: string) =>
  expectOk(await caller.get(`${posts}?filter=${encodeURIComponent(`id = '${id}'`)}&expand=${expand}`))
    .items[0];

describe('expand of a file', () => {
  it('gives what the file is, and a link that needs no token', async () => {
    const cover = await file('tea.png');
    const scans = [await file('b', '1'), await file('a', '22')];
    const id = await app.make(posts, { cover, scans, owner: user.id });
    const expand = await expansion(user, `${posts}/${id}?expand=cover,scans,author&fields=title`);
    expect(expand).toEqual({
      author: null,
      cover: {
        id: cover,
        filename: 'tea.png',
        mime: 'image/png',
        size: 5,
        created_at: expect.any(String),
        url: expect.stringContaining(`/files/${cover}/shared?expires=`),
        expires_at: expect.any(String),
      },
      scans: scans.map((id) => expect.objectContaining({ id })),
    });
    expect(Date.parse(expand.cover.expires_at) - Date.now()).toBeLessThanOrEqual(300_000);
    const bytes = await fetch(serverUrl() + expand.cover.url);
    expect([bytes.status, await bytes.text()]).toEqual([200, 'bytes']);
    expect((await listed(user, id, 'cover,scans')).expand.cover.id).toBe(cover);
    const none = await app.make(posts, { owner: user.id });
    expect(await expansion(user, `${posts}/${none}?expand=cover,scans`)).toEqual({ cover: null, scans: [] });
  });

  it('gives nothing of a file that the caller may not read, though its id is in the list', async () => {
    const [cover, mine] = [await file('secret'), await file('mine', 'x', other)];
    const id = await app.make(posts, { cover, scans: [cover, mine], owner: user.id });
    const found = await listed(other, id, 'cover,scans');
    expect(found.fields.cover).toBe(cover);
    // What one has uploaded oneself, one may read.
    expect(found.expand).toEqual({ cover: null, scans: [expect.objectContaining({ id: mine })] });
    expect((await listed(as(), id, 'cover,scans')).expand).toEqual({ cover: null, scans: [] });
    expect((await listed(user, id, 'cover,scans')).expand).toMatchObject({
      cover: { id: cover },
      scans: [{}, {}],
    });
    expect((await listed(app.admin, id, 'cover')).expand).toMatchObject({ cover: { id: cover } });
    expectError(await other.get(`${posts}/${id}?expand=cover`), 403, 'forbidden');
    // Another record that the caller may get opens the file.
    await app.make(posts, { scans: [cover], owner: other.id });
    expect((await listed(other, id, 'cover')).expand).toMatchObject({ cover: { id: cover } });
  });

  it('follows relations to records, under their rules, and goes no further', async () => {
    const author = await app.make(authors, { photo: await file('ada.png') });
    const hidden = await app.make(authors, { photo: await file('bob.png'), hidden: true });
    const first = await app.make(posts, { author });
    const second = await app.make(posts, { author: hidden });
    expect((await listed(as(), first, 'author.photo')).expand.author.expand.photo.filename).toBe('ada.png');
    expect((await listed(as(), second, 'author.photo')).expand).toEqual({ author: null });
    const backward = await expansion(app.admin, `${authors}/${author}?expand=photo,posts_via_author.cover`);
    expect(backward).toMatchObject({
      photo: { filename: 'ada.png' },
      posts_via_author: [{ expand: { cover: null } }],
    });
    const { items } = expectOk(await as().get(`${authors}?expand=photo&sort=created_at`));
    expect(items.map((record: { expand: { photo: unknown } }) => record.expand.photo !== null)).toEqual([
      true,
      false,
    ]);
    for (const expand of ['cover.filename', 'cover.posts_via_cover', 'cover.owner', 'title']) {
      expectError(await app.admin.get(`${posts}?expand=${expand}`), 400, 'unknown_column');
    }
  });

  it('goes by policy files.read', async () => {
    const cover = await file('open');
    const id = await app.make(posts, { cover, owner: user.id });
    const policy = `${app.app.path}/policies/files.read`;
    expectOk(await app.admin.put(policy, { kind: 'enum_set', allowed: ['signed_in'] }));
    expect((await listed(other, id, 'cover')).expand).toMatchObject({ cover: { id: cover } });
    expect((await listed(as(), id, 'cover')).expand).toEqual({ cover: null });
    expectOk(await app.admin.put(policy, { kind: 'enum_set', allowed: [] }));
    expect((await listed(user, id, 'cover')).expand).toEqual({ cover: null });
    expectOk(await app.admin.put(policy, { kind: 'enum_set', allowed: ['records'] }));
    expect((await listed(user, id, 'cover')).expand).toMatchObject({ cover: { id: cover } });
  });

  it('is in lists of hooks', async () => {
    const { body } = await as().get(`${app.app.path}/custom/covers`);
    expect(body).toContainEqual(['tea.png', [1, 2]]);
  });
});
