// Indexes over several fields: declared and changed with a collection, and unique ones that refuse records.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk } from '../../harness/api.ts';
import { type Scenario, scenario } from '../../harness/scenario.ts';

let own: Scenario;

const project = { name: 'project', kind: 'relation', target: 'projects' };
const user = { name: 'user', kind: 'text' };
const fields = [project, user, { name: 'meta', kind: 'json' }];
const together = { fields: ['project', 'user'], unique: true };

beforeAll(async () => {
  own = await scenario({ collections: { projects: [user] } });
});

/** Creates a collection and returns its path. */
async function define(id: string, indexes?: unknown[]): Promise<string> {
  expectOk(await own.admin.post(own.collections, { schema: { id, fields, ...(indexes && { indexes }) } }));
  return `${own.collections}/${id}`;
}

/** The columns of the indexes over several columns, and whether they are unique. */
async function indexesOf(collection: string): Promise<string[]> {
  const rows = await own.inDatabase((sql) =>
    sql<{ line: string }[]>`
      select regexp_replace(pg_get_indexdef(indexrelid), '^CREATE (UNIQUE )?INDEX .* USING btree', '\\1') as line
      from pg_index join pg_class on pg_class.oid = indrelid
      where relname = ${collection} and indisvalid and indnkeyatts > 1 order by line`
  );
  return rows.map(({ line }) => line);
}

describe('indexes of a collection', () => {
  it('are made with it, shown, kept by a change that does not name them, and dropped by one that does', async () => {
    const later = { fields: ['user', 'created_at'] };
    const path = await define('shown', [together, later]);
    expect((await own.admin.get(path)).body.schema).toMatchObject({
      id: 'shown',
      indexes: [together, later],
    });
    expect(await indexesOf('shown')).toEqual([' ("user", created_at)', 'UNIQUE  (project, "user")']);
    const more = [...fields, { name: 'more', kind: 'bool' }];
    const kept = expectOk(await own.admin.patch(path, { schema: { fields: more } }));
    expect(kept.schema.indexes).toEqual([together, later]);
    const dropped = expectOk(await own.admin.patch(path, { schema: { fields: more, indexes: [later] } }));
    expect(dropped.schema.indexes).toEqual([later]);
    expect(await indexesOf('shown')).toEqual([' ("user", created_at)']);
    expectOk(await own.admin.patch(path, { schema: { fields: more, indexes: [] } }));
    expect(Object.keys((await own.admin.get(path)).body.schema)).toEqual(['id', 'kind', 'fields']);
    expect(await indexesOf('shown')).toEqual([]);
  });

  it('that are unique refuse a second record, naming the fields, and let empty values be', async () => {
    const path = await define('memberships', [together]);
    const to = await own.make(own.records('projects'), {});
    const first = expectOk(await own.admin.post(`${path}/records`, { project: to, user: 'ada' }));
    const other = expectOk(await own.admin.post(`${path}/records`, { project: to, user: 'bob' }));
    const reason = 'another record has the same values in project, user';
    const refused = {
      status: 409,
      body: {
        code: 'conflict',
        message: `project: ${reason}; user: ${reason}`,
        errors: [
          { path: 'project', code: 'taken', message: reason },
          { path: 'user', code: 'taken', message: reason },
        ],
      },
    };
    expect(await own.admin.post(`${path}/records`, { project: to, user: 'ada' })).toMatchObject(refused);
    expect(await own.admin.patch(`${path}/records/${other.id}`, { user: 'ada' })).toMatchObject(refused);
    for (let n = 0; n < 2; n++) expectOk(await own.admin.post(`${path}/records`, { user: 'ada' }));
    const body = {
      requests: [{ method: 'POST', collection: 'memberships', body: { project: to, user: 'ada' } }],
    };
    const batch = await own.admin.post(`${own.app.path}/batch`, body);
    expect(batch).toMatchObject({
      status: 409,
      body: { errors: [{ path: 'requests.0.body.project' }, { path: 'requests.0.body.user' }] },
    });
    expectOk(await own.admin.delete(`${path}/records/${first.id}`));
    expectOk(await own.admin.patch(`${path}/records/${other.id}`, { user: 'ada' }));
  });

  it('cannot be unique over records that are the same: the error says how many', async () => {
    const path = await define('doubles');
    const to = await own.make(own.records('projects'), {});
    for (const name of ['ada', 'ada', 'ada', 'bob', 'bob', 'eve']) {
      expectOk(await own.admin.post(`${path}/records`, { project: to, user: name }));
    }
    const reason = 'cannot be unique, because 5 records have the same values';
    const refused = await own.admin.patch(path, { schema: { fields, indexes: [together] } });
    expect(refused).toMatchObject({
      status: 409,
      body: { message: `project, user: ${reason}`, errors: [{ path: 'schema.indexes.0', message: reason }] },
    });
    expect((await own.admin.get(path)).body.schema.indexes).toBeUndefined();
    const single = [project, { ...user, unique: true }, fields[2]];
    const message = 'user: cannot be unique, because 5 records have the same value';
    expect((await own.admin.patch(path, { schema: { fields: single } })).body.message).toBe(message);
  });

  it('keep a field from being dropped, unless they are dropped with it', async () => {
    const path = await define('held', [together]);
    const left = [project, fields[2]];
    const refused = await own.admin.patch(`${path}?confirm=drop`, { schema: { fields: left } });
    expect(refused).toMatchObject({
      status: 400,
      body: {
        errors: [{
          path: 'schema.fields.user',
          message: 'is in the index of project, user; to drop both, send schema.indexes without it',
        }],
      },
    });
    expectOk(await own.admin.patch(`${path}?confirm=drop`, { schema: { fields: left, indexes: [] } }));
    expect(await indexesOf('held')).toEqual([]);
  });

  it.each([
    ['no field', [{ fields: [] }], 'schema.indexes.0.fields: must name at least one field'],
    [
      'an unknown field',
      [{ fields: ['user', 'none'] }],
      'schema.indexes.0.fields.1: the collection has no field "none" of its own',
    ],
    ['a field twice', [{ fields: ['user', 'user'] }], 'schema.indexes.0.fields.1: is named twice'],
    ['json', [{ fields: ['meta'] }], 'schema.indexes.0.fields.0: json fields cannot be indexed'],
    [
      'the same twice',
      [together, { fields: together.fields }],
      'schema.indexes.1.fields: are those of another index',
    ],
    ['a misspelt setting', [{ fields: ['user'], uniqe: true }], 'schema.indexes.0.uniqe: unknown field'],
    [
      'too many fields',
      [{ fields: Array.from({ length: 9 }, () => 'user') }],
      'schema.indexes.0.fields: must have at most 8 items',
    ],
    [
      'too many indexes',
      Array.from({ length: 33 }, () => ({ fields: ['user'] })),
      'schema.indexes: must have at most 32 items',
    ],
  ])('refuse %s, in a create and in a change', async (name, indexes, message) => {
    const id = `refused_${name.replaceAll(' ', '_')}`;
    const created = await own.admin.post(own.collections, { schema: { id, fields, indexes } });
    expect([created.status, created.body.message]).toEqual([400, message]);
    const path = await define(id);
    const changed = await own.admin.patch(path, { schema: { fields, indexes } });
    expect([changed.status, changed.body.message]).toEqual([400, message]);
  });

  it('of a collection of profiles are over its own fields', async () => {
    const schema = (indexes: unknown) => ({
      schema: { id: 'members', kind: 'auth', fields: [user], indexes },
    });
    const refused = await own.admin.post(own.collections, schema([{ fields: ['email'] }]));
    expect(refused.body.message).toContain('the collection has no field "email" of its own');
    expectOk(await own.admin.post(own.collections, schema([{ fields: ['user', 'id'] }])));
  });
});
