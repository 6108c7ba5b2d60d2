// Renaming fields: the records stay as they are, and whatever names the field follows.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk } from '../../harness/api.ts';
import { type Scenario, scenario, title } from '../../harness/scenario.ts';
import { watched } from '../../harness/watched.ts';

let own: Scenario;

beforeAll(async () => {
  own = await scenario();
});

const body = { name: 'body', kind: 'text' };
const to = (target: string, name: string) => ({ name, kind: 'relation', target });

async function patch(id: string, schema: Record<string, unknown>) {
  return await own.admin.patch(`${own.collections}/${id}`, { schema });
}

/** The filters of a collection's rules, by action. */
async function filtersOf(id: string): Promise<Record<string, string>> {
  const { items } = expectOk(await own.admin.get(`${own.collections}/${id}/access_rules`));
  const filters = items.filter(({ filter }: { filter: string | null }) => filter !== null);
  return Object.fromEntries(
    filters.map((rule: { action: string; filter: string }) => [rule.action, rule.filter]),
  );
}

describe('a field that gets another name', () => {
  it('keeps its values, its index and the times of records, and says nothing of it in the definition', async () => {
    const unique = { ...body, unique: true };
    const indexes = [{ fields: ['title', 'body'], unique: true }];
    expectOk(
      await own.admin.post(own.collections, { schema: { id: 'kept', fields: [title, unique], indexes } }),
    );
    const records = own.records('kept');
    const record = expectOk(await own.admin.post(records, { title: 'a', body: 'b' }));
    const description = { ...unique, name: 'description' };
    const changed = expectOk(await patch('kept', { fields: [title, { ...description, was: 'body' }] }));
    expect(changed.schema).toEqual({
      ...{ id: 'kept', kind: 'base', fields: [title, description] },
      indexes: [{ fields: ['title', 'description'], unique: true }],
    });
    expect((await own.admin.get(`${own.collections}/kept`)).body).toEqual(changed);
    const read = expectOk(await own.admin.get(`${records}/${record.id}`));
    expect(read).toEqual({ ...record, fields: { title: 'a', description: 'b' } });
    const double = await own.admin.post(records, { title: 'c', description: 'b' });
    expect(double).toMatchObject({ status: 409, body: { errors: [{ path: 'description', code: 'taken' }] } });
    expect((await own.admin.post(records, { body: 'c' })).body.message).toBe('body: unknown field');
    // The index has followed: it can be dropped, and made again.
    expectOk(await patch('kept', { fields: [title, { ...body, name: 'description' }], indexes: [] }));
    expectOk(await patch('kept', { fields: [title, description] }));
  });

  it('is renamed in the rules of all collections of the app', async () => {
    await own.define('topics', [title]);
    await own.define('posts', [title, body, to('topics', 'topic')], {
      list: 'body = "x" && topic.title != "body"',
      create: '@request.body.body != null',
    });
    await own.define('replies', [to('posts', 'post'), { name: 'body', kind: 'text' }], {
      get: 'post.body = body',
      update: 'any',
    });
    await own.setRules('topics', {
      get: 'posts_via_topic(body = @record.title) || @collection.replies.body = "z"',
    });
    const fields = [title, { ...body, name: 'text', was: 'body' }, {
      ...to('topics', 'subject'),
      was: 'topic',
    }];
    expectOk(await patch('posts', { fields }));
    expect(await filtersOf('posts')).toEqual({
      list: 'text = "x" && subject.title != "body"',
      create: '@request.body.text != null',
    });
    expect(await filtersOf('replies')).toEqual({ get: 'post.text = body' });
    expect(await filtersOf('topics')).toEqual({
      get: 'posts_via_subject(text = @record.title) || @collection.replies.body = "z"',
    });
    const user = await own.user();
    const subject = await own.make(own.records('topics'), { title: 'x' });
    expect((await user.get(`${own.records('topics')}/${subject}`)).status).toBe(403);
    await own.make(own.records('posts'), { text: 'x', subject });
    expectOk(await user.get(`${own.records('topics')}/${subject}`));
    expect(expectOk(await user.get(own.records('posts'))).total_items).toBe(1);
    const audit = expectOk(await own.admin.get(`${own.app.path}/audit?action=collection_update`));
    expect(audit.items[0].details).toMatchObject({
      renamed: { body: 'text', topic: 'subject' },
      rules: expect.arrayContaining(['posts.list', 'posts.create', 'replies.get', 'topics.get']),
    });
  });

  it('can be renamed by the same change twice, and beside other changes', async () => {
    await own.define('twice', [title, body]);
    const fields = [title, { ...body, name: 'text', was: 'body', max: 9 }, { name: 'more', kind: 'bool' }];
    const first = expectOk(await patch('twice', { fields }));
    expect(expectOk(await patch('twice', { fields })).schema).toEqual(first.schema);
  });

  it('changes no record: hooks do not run, and streams get no event', async () => {
    const names = { onRecordAfterUpdate: 'after', onRecordBeforeUpdate: 'before' };
    const calls = Object.entries(names).map(([event, word]) =>
      `${event}('*', async () => { await $app.records.create('seen', { title: '${word}' }); });`
    );
    const app = await scenario({ collections: { seen: [title] } });
    const notes = await watched(app, { list: 'any' }, [title, body]);
    const source = calls.join('\n').replaceAll("'*'", `'${notes.name}'`);
    expectOk(await app.admin.put(`${app.app.path}/hooks/watch.js`, { source }));
    const client = await notes.watch();
    const { id } = await notes.create({ title: 'a', body: 'b' });
    const fields = [title, { ...body, name: 'text', was: 'body' }];
    expectOk(await app.admin.patch(`${app.collections}/${notes.name}`, { schema: { fields } }));
    expect(expectOk(await app.admin.get(app.records('seen'))).total_items).toBe(0);
    await notes.change(id, { text: 'c' });
    await client.until(({ events }) => events.length >= 2);
    expect(client.events.map(({ event, data }) => [event, data])).toMatchObject([
      ['record_created', { fields: { title: 'a', body: 'b' } }],
      ['record_updated', { fields: { title: 'a', text: 'c' } }],
    ]);
    client.socket.destroy();
  });

  const third = { name: 'third', kind: 'text' };

  it.each([
    [
      'that is not there',
      [title, { ...body, name: 'text', was: 'none' }],
      'text.was: there is no field "none"',
    ],
    [
      'with another',
      [{ ...title, was: 'body' }, { ...body, was: 'title' }],
      'title.was: there is a field "title": names can be passed on only in a later change, once they are free',
    ],
    [
      'and one more that takes its name',
      [title, { ...third, was: 'body' }, body],
      'third.was: a field "body" cannot be declared in the same change',
    ],
    [
      'twice',
      [title, { ...third, was: 'body' }, { name: 'other', kind: 'text', was: 'body' }],
      'other.was: "body" is renamed already',
    ],
    [
      'to another kind',
      [title, { name: 'n', kind: 'number', was: 'body' }],
      'n.kind: must be "text": it cannot',
    ],
    [
      'to a reserved name',
      [title, { name: 'id', kind: 'text', was: 'body' }],
      '1.name: "id" is a reserved name',
    ],
  ])('is not renamed %s', async (name, fields, message) => {
    const id = `refused_${name.replaceAll(/\W/g, '_')}`;
    await own.define(id, [title, body], { list: 'title = body' });
    const refused = await patch(id, { fields });
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringContaining(`schema.fields.${message}`),
    ]);
    expect((await own.admin.get(`${own.collections}/${id}`)).body.schema.fields).toEqual([title, body]);
    expect(await filtersOf(id)).toEqual({ list: 'title = body' });
  });

  it('is not renamed where a rule would become too long, and nothing has changed then', async () => {
    await own.define('long', [{ name: 'a', kind: 'text' }], {
      list: Array(120).fill('a = "x"').join(' || '),
    });
    const name = 'a'.repeat(60);
    const refused = await patch('long', { fields: [{ name, kind: 'text', was: 'a' }] });
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain(
      'the list rule of "long" cannot take the new name: more than 4096',
    );
    expectOk(await own.admin.post(own.records('long'), { a: 'x' }));
  });

  it('has no former name when it is created', async () => {
    const fields = [{ ...body, was: 'text' }];
    const refused = await own.admin.post(own.collections, { schema: { id: 'fresh', fields } });
    expect(refused.body.message).toBe('schema.fields.0.was: unknown field');
  });
});
