// Cached records: as they are, whatever writes them, and no longer than they are.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeStored } from '../../../../api/files/remove.ts';
import { runBatch } from '../../../../api/records/batch.ts';
import { getRecord } from '../../../../api/records/get.ts';
import { admit, unboundedAccess } from '../../../../api/rules/access.ts';
import { putRule } from '../../../../api/rules/change.ts';
import { removeUser } from '../../../../api/users/remove.ts';
import { LocalBlobs } from '../../../../storage/blobs/local.ts';
import type { Field } from '../../../../storage/definition.ts';
import { insertFile } from '../../../../storage/app/files.ts';
import { relationTo } from '../../../harness/bare-app.ts';
import { type CachingApp, cachingApp } from '../../../harness/caching-app.ts';

const now = new Date();
const access = unboundedAccess('get', now);
const title: Field = { name: 'title', kind: 'text' };
let own: CachingApp;

beforeAll(async () => {
  own = await cachingApp();
  await own.app.define('notes', [title]);
});
afterAll(() => own.app.end());

const missing = { code: 'not_found' };

describe('a record that was asked for twice', () => {
  it('is not read again', async () => {
    const id = await own.create('notes', { title: 'a' });
    await own.get('notes', id);
    await own.writeUntracked('notes', "title = 'b'");
    expect((await own.get('notes', id)).fields).toEqual({ title: 'b' });
    await own.writeUntracked('notes', "title = 'c'");
    expect((await own.get('notes', id)).fields).toEqual({ title: 'b' });
    expect((await own.get('notes', id.toUpperCase())).fields).toEqual({ title: 'b' });
    // And others are not mistaken for it.
    await expect(own.get('notes', randomUUID())).rejects.toMatchObject(missing);
  });

  it('is read again once it was changed, also by a batch, and is gone with it', async () => {
    const id = await own.create('notes', { title: 'a' });
    await own.cache('notes', id);
    await own.change('notes', id, { title: 'b' });
    expect((await own.get('notes', id)).fields).toEqual({ title: 'b' });
    await own.cache('notes', id);
    await runBatch(own.deps, await own.app.definition(), {
      requests: [{ method: 'PATCH', collection: 'notes', id, body: { title: 'c' } }],
      asking: { principal: own.app.by.principal, now, query: {} },
    });
    expect((await own.get('notes', id)).fields).toEqual({ title: 'c' });
    await own.cache('notes', id);
    await own.remove('notes', id);
    await expect(own.get('notes', id)).rejects.toMatchObject(missing);
    await own.create('notes', { id, title: 'd' });
    expect((await own.get('notes', id)).fields).toEqual({ title: 'd' });
  });

  it('stays cached while others are written', async () => {
    // The ends of ids say which ones are taken for the same.
    const [id, other] = ['01890000-0000-7000-8000-000000000000', '01890000-0000-7000-8000-000000000001'];
    for (const each of [id, other]) await own.create('notes', { id: each, title: 'a' });
    await own.cache('notes', id);
    await own.writeUntracked('notes', "title = 'untracked'");
    await own.change('notes', other, { title: 'b' });
    await own.create('notes', { title: 'c' });
    await own.remove('notes', other);
    expect((await own.get('notes', id)).fields).toEqual({ title: 'a' });
  });

  it('shows each caller what the rule lets them see by now', async () => {
    await own.app.define('ruled', [title]);
    const id = await own.create('ruled', { title: 'open' });
    await own.cache('ruled', id);
    const rule = async (filter: string) =>
      await putRule(own.deps, await own.app.target('ruled'), { template: 'filter', filter }, {
        action: 'get',
        by: own.app.by,
      });
    const asAnybody = async () => {
      const target = await own.app.target('ruled');
      const access = await admit(own.deps, target, 'get', { principal: null, now, query: {} });
      return await getRecord(own.deps, target, { access, id });
    };
    await rule('title = "open"');
    await own.cache('ruled', id);
    expect((await asAnybody()).fields).toEqual({ title: 'open' });
    await own.change('ruled', id, { title: 'shut' });
    await expect(asAnybody()).rejects.toMatchObject({ code: 'unauthorized' });
    await rule('title = "shut"');
    expect((await asAnybody()).fields).toEqual({ title: 'shut' });
    await rule('@request.auth.id = "nobody" && title != ""');
    await expect(asAnybody()).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('comes with the fields and relations that are asked for', async () => {
    await own.app.define('linked', [title, relationTo('notes', 'note')]);
    const note = await own.create('notes', { title: 'behind' });
    const id = await own.create('linked', { title: 'before', note });
    await own.cache('linked', id);
    const target = await own.app.target('linked');
    const expanded = await getRecord(own.deps, target, { access, id, fields: 'title', expand: 'note' });
    expect(expanded).toMatchObject({ id, fields: { title: 'before' }, expand: { note: { id: note } } });
    expect(await own.get('linked', id)).not.toHaveProperty('expand');
    await own.change('notes', note, { title: 'changed' });
    const again = await getRecord(own.deps, target, { access, id, expand: 'note' });
    expect(again.expand?.['note']).toMatchObject({ fields: { title: 'changed' } });
  });
});

describe('a cached record that goes or loses a value with another', () => {
  beforeAll(async () => {
    await own.app.define('authors', [{ name: 'name', kind: 'text' }]);
    await own.app.define('posts', [relationTo('authors', 'author', { cascade_delete: true })]);
    await own.app.define('marks', [relationTo('posts', 'post'), relationTo('users', 'reader')]);
    await own.app.define('covers', [{ name: 'image', kind: 'file' }]);
  });

  it('follows a record', async () => {
    const author = await own.create('authors', { name: 'Eva' });
    const post = await own.create('posts', { author });
    const mark = await own.create('marks', { post });
    await own.cache('posts', post);
    await own.cache('marks', mark);
    await own.remove('authors', author);
    await expect(own.get('posts', post)).rejects.toMatchObject(missing);
    expect((await own.get('marks', mark)).fields).toMatchObject({ post: null });
  });

  it('follows a record that a batch deletes', async () => {
    const author = await own.create('authors', { name: 'Eli' });
    const post = await own.create('posts', { author });
    await own.cache('posts', post);
    await runBatch(own.deps, await own.app.definition(), {
      requests: [{ method: 'DELETE', collection: 'authors', id: author }],
      asking: { principal: own.app.by.principal, now, query: {} },
    });
    await expect(own.get('posts', post)).rejects.toMatchObject(missing);
  });

  it('follows a user', async () => {
    const { workspace } = await own.app.definition();
    const [user] = await own.deps.databases.workspace(workspace.database).run((sql) =>
      sql<{ id: string }[]>`
        insert into workspace.users (id, email, verified, created_at, updated_at)
        values (gen_random_uuid(), 'ann@example.com', true, now(), now()) returning id`
    );
    const reader = user?.id ?? '';
    const mark = await own.create('marks', { reader });
    await own.cache('marks', mark);
    await removeUser(own.deps, { workspace, id: reader }, own.app.by);
    expect((await own.get('marks', mark)).fields).toMatchObject({ reader: null });
  });

  it('follows a file', async () => {
    const { schema } = await own.app.definition();
    const image = randomUUID();
    const file = {
      id: image,
      filename: 'a',
      mime: 'text/plain',
      size: 1,
      uploaded_by: null,
      created_at: now,
    };
    await own.app.run((sql) => insertFile(sql, schema, file));
    const cover = await own.create('covers', { image });
    await own.cache('covers', cover);
    await removeStored({ ...own.deps, blobs: new LocalBlobs('/nowhere') }, await own.app.definition(), {
      id: image,
      caller: undefined,
      now,
    });
    expect((await own.get('covers', cover)).fields).toEqual({ image: null });
  });
});
