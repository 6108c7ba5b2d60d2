// Views and what they read: what is needed stays, what is renamed is followed, and the role that owns views has no other rights.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk } from '../../../harness/api.ts';
import { type Scenario, scenario, title } from '../../../harness/scenario.ts';

let own: Scenario;

beforeAll(async () => {
  own = await scenario();
});

async function view(id: string, query: string): Promise<string> {
  expectOk(await own.admin.post(own.collections, { schema: { id, kind: 'view', query } }));
  return own.records(id);
}

async function change(id: string, schema: object, parameters = '') {
  return await own.admin.patch(`${own.collections}/${id}${parameters}`, { schema });
}

describe('a change of a collection that a view reads', () => {
  const note = [title, { name: 'body', kind: 'text' }, { name: 'kind', kind: 'select', options: ['a', 'b'] }];

  it('cannot drop the collection, nor what the view needs of it', async () => {
    await own.define('needed', [...note, { name: 'spare', kind: 'text' }]);
    await view('needing', 'select id, title, kind from needed');
    const drop = await own.admin.delete(`${own.collections}/needed`);
    expect(drop).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(drop.body.message).toContain('the view "needing"');
    const without = await change('needed', { fields: [note[1], note[2]] }, '?confirm=drop');
    expect(without).toMatchObject({ status: 409, body: { errors: [{ path: 'schema.fields.title' }] } });
    expect(without.body.message).toContain('the view "needing"');
    const many = await change(
      'needed',
      { fields: [...note.slice(0, 2), { ...note[2], many: true }] },
      '?confirm=drop',
    );
    expect(many).toMatchObject({ status: 409, body: { errors: [{ path: 'schema.fields.kind' }] } });
    // The rest is free.
    expectOk(
      await change('needed', { fields: [title, { ...note[2], options: ['a', 'b', 'c'] }] }, '?confirm=drop'),
    );
    const { schema } = expectOk(await own.admin.get(`${own.collections}/needing`));
    expect(schema.fields[1].options).toEqual(['a', 'b', 'c']);
    expectOk(await own.admin.delete(`${own.collections}/needing`));
    expectOk(await own.admin.delete(`${own.collections}/needed`));
  });

  it('renames fields, which the view follows', async () => {
    await own.define('renamed', note);
    await own.make(own.records('renamed'), { title: 't', body: 'b' });
    const records = await view(
      'following',
      'select id, title, body as text from renamed where body is not null',
    );
    await view('further', 'select id, text from following');
    expectOk(
      await change('renamed', { fields: [title, { ...note[1], name: 'description', was: 'body' }, note[2]] }),
    );
    const { schema } = expectOk(await own.admin.get(`${own.collections}/following`));
    expect(schema.query).toContain('description AS text');
    expect(schema.query).not.toMatch(/body|[av]_[0-9a-z]{8}/);
    expect((await own.admin.get(records)).body.items[0].fields).toEqual({ title: 't', text: 'b' });
    // The query that is shown makes the same view.
    expectOk(
      await own.admin.post(own.collections, { schema: { ...schema, id: 'again', fields: undefined } }),
    );
    expect((await own.admin.get(own.records('again'))).body.items[0].fields).toEqual({
      title: 't',
      text: 'b',
    });
    // A view is changed by its query, unless another one reads it.
    const query = 'select id, title from renamed';
    expect((await change('following', { query })).body.message).toContain('the view "further"');
    expectOk(await own.admin.delete(`${own.collections}/further`));
    expect(expectOk(await change('following', { query })).schema).toEqual({
      ...schema,
      query,
      fields: [title],
    });
    expect((await own.admin.get(records)).body.items[0].fields).toEqual({ title: 't' });
    expect((await change('following', { query, fields: [title] })).status).toBe(400);
    expect((await change('following', { query: 'select id from following' })).status).toBe(400);
    expect((await change('following', { query: 'select id, nope from renamed' })).body)
      .toMatchObject({ code: 'unknown_column', errors: [{ path: 'schema.query' }] });
    expect(expectOk(await own.admin.get(`${own.collections}/following`)).schema.query).toBe(query);
  });
});

describe('the role of an app’s views', () => {
  it('may read the tables that views read, and nothing else', async () => {
    await own.inDatabase(async (sql) => {
      const [found] = await sql<
        { schema: string }[]
      >`select schema from workspace.apps where id = ${own.app.id}`;
      const schema = found?.schema ?? '';
      const viewer = schema.replace(/^a_/, 'v_');
      const rights = await sql<{ name: string; right: string }[]>`
        select c.relname as name, acl.privilege_type as right from pg_class c, aclexplode(c.relacl) as acl
        where acl.grantee = (select oid from pg_roles where rolname = ${viewer}) and c.relowner <> acl.grantee`;
      expect(new Set(rights.map(({ right }) => right))).toEqual(new Set(['SELECT']));
      expect(rights.filter(({ name }) => name.startsWith('_'))).toEqual([]);
      const [may] = await sql`select rolcanlogin, rolsuper, rolcreaterole,
        has_schema_privilege(${viewer}, ${schema}, 'create') as makes,
        has_schema_privilege(${viewer}, 'workspace', 'usage') as sees from pg_roles where rolname = ${viewer}`;
      expect(may).toEqual({
        rolcanlogin: false,
        rolsuper: false,
        rolcreaterole: false,
        makes: false,
        sees: false,
      });
    });
  });

  it('reads no other app of the workspace, even by the name of its schema', async () => {
    const other = await scenario({ workspace: own.workspace, collections: { secrets: [title] } });
    const schemas = await own.inDatabase((sql) =>
      sql<{ schema: string }[]>`select schema from workspace.apps where id = ${other.app.id}`
    );
    const query = `select id, title from ${schemas[0]?.schema}.secrets`;
    const response = await own.admin.post(own.collections, { schema: { id: 'spying', kind: 'view', query } });
    expect(response.status).toBe(400);
    expect(response.body.message).toContain('and nothing else');
    // Neither does the role read it by its rights alone.
    await own.inDatabase(async (sql) => {
      const [own_] = await sql<
        { schema: string }[]
      >`select schema from workspace.apps where id = ${own.app.id}`;
      const viewer = own_?.schema.replace(/^a_/, 'v_') ?? '';
      const [may] = await sql`select has_schema_privilege(${viewer}, ${
        schemas[0]?.schema ?? ''
      }, 'usage') as sees`;
      expect(may?.sees).toBe(false);
    });
  });

  it('goes with the workspace', async () => {
    const other = await scenario({ collections: { notes: [title] } });
    const schema = { id: 'v', kind: 'view', query: 'select id, title from notes' };
    expectOk(await other.admin.post(other.collections, { schema }));
    const [found] = await other.inDatabase((sql) =>
      sql<{ schema: string }[]>`select schema from workspace.apps where id = ${other.app.id}`
    );
    const viewer = found?.schema.replace(/^a_/, 'v_') ?? '';
    const isThere = () =>
      own.inDatabase(async (sql) => (await sql`select from pg_roles where rolname = ${viewer}`).length > 0);
    expect(await isThere()).toBe(true);
    expectOk(await own.workspace.master.delete(other.workspace.path));
    await expect.poll(isThere, { timeout: 60_000 }).toBe(false);
  }, 90_000);

  it('goes with the app', async () => {
    const other = await scenario({ workspace: own.workspace, collections: { notes: [title] } });
    const schema = { id: 'v', kind: 'view', query: 'select id, title from notes' };
    expectOk(await other.admin.post(other.collections, { schema }));
    const roles = () =>
      own.inDatabase((sql) => sql`select count(*)::int as n from pg_roles where rolname like 'v\\_%'`);
    const [before] = await roles();
    expectOk(await own.workspace.admin.delete(other.app.path));
    const [after] = await roles();
    expect(after?.n).toBeLessThan(before?.n);
  });
});
