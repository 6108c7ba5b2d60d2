// Indexes of large collections: built while records are written, and gone when the change fails.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { qualified } from '../../../../storage/app/tables.ts';
import type { Pool, Sql } from '../../../../storage/connections/pool.ts';
import { inheritRoleText } from '../../../../storage/provision/roles.ts';
import { ownerRole } from '../../../../storage/sql/ids.ts';
import { type Answer, expectOk, type OwnApp, type OwnWorkspace, ownWorkspace } from '../../../harness/api.ts';
import { openDatabaseOf } from '../../../harness/database.ts';
import { actAsOwner, describeTable, fillCollection } from '../../../harness/large-collection.ts';
import { answerMeanwhile } from '../../../harness/waiting.ts';

const title = { name: 'title', kind: 'text' };

let workspace: OwnWorkspace;
let app: OwnApp;
let pool: Pool;

beforeAll(async () => {
  workspace = await ownWorkspace();
  app = await workspace.app();
  pool = await openDatabaseOf(workspace.id);
});
afterAll(() => pool.end());

/** A large collection: its path and schema. */
async function large(id: string, fields: unknown[] = [title], { path, admin } = app) {
  expectOk(await admin.post(`${path}/collections`, { schema: { id, fields } }));
  return { id, path: `${path}/collections/${id}`, schema: await fillCollection(pool, id) };
}

type Large = Awaited<ReturnType<typeof large>>;

const change = ({ path }: Large, fields: unknown[], confirm = '') =>
  app.admin.patch(`${path}${confirm}`, { schema: { fields } });

const describeLarge = ({ schema, id }: Large) => pool.run((sql) => describeTable(sql, schema, id));

/** A write that has not ended: an index waits for it. */
const beginWrite = ({ schema, id }: Large) => async (sql: Sql) => {
  await actAsOwner(sql, schema);
  await sql.unsafe(`lock table ${qualified({ schema, collection: id })} in row exclusive mode`);
};

/** A read of something else that has not ended: an index waits for it, too, but nothing else does. */
const beginRead = ({ schema }: Large) => async (sql: Sql) => {
  await sql.unsafe('set transaction isolation level repeatable read');
  await actAsOwner(sql, schema);
  await sql.unsafe('select pg_current_snapshot()');
};

async function statusesOfWrites({ path }: Large): Promise<number[]> {
  const made = Array.from({ length: 10 }, (_, n) => app.admin.post(`${path}/records`, { title: `new ${n}` }));
  return (await Promise.all(made)).map(({ status }) => status);
}

describe('while an index of a large collection is built', () => {
  it.each([
    ['indexed', { index: true }, 'index of title'],
    ['unique', { unique: true }, 'index of title unique'],
  ])('records are written: a field becomes %s', async (name, setting, index) => {
    const collection = await large(`becomes_${name}`);
    let statuses: number[] = [];
    const answer = await answerMeanwhile(
      pool,
      beginWrite(collection),
      () => change(collection, [{ ...title, ...setting }]),
      async () => {
        statuses = await statusesOfWrites(collection);
      },
    );
    expect(statuses).toEqual(Array(10).fill(201));
    expect(expectOk(answer).schema.fields).toEqual([{ ...title, ...setting }]);
    expect(await describeLarge(collection)).toEqual([index, 'title']);
    // And back again.
    expectOk(await change(collection, [title]));
    expect(await describeLarge(collection)).toEqual(['title']);
  });

  it('nobody sees the new field before it is there as a whole', async () => {
    const collection = await large('gets_fields');
    const fields = [
      title,
      { name: 'code', kind: 'text', unique: true },
      { name: 'owner', kind: 'relation', target: 'users' },
    ];
    let statuses: number[] = [];
    let before: Answer | undefined;
    const answer = await answerMeanwhile(
      pool,
      beginRead(collection),
      () => change(collection, fields),
      async () => {
        statuses = await statusesOfWrites(collection);
        before = await app.admin.get(collection.path);
      },
    );
    expect(before?.body.schema.fields).toEqual([title]);
    expect(statuses).toEqual(Array(10).fill(201));
    expect(expectOk(answer).schema.fields).toEqual(fields);
    expect(await describeLarge(collection)).toEqual([
      'code',
      'index of code unique',
      'index of owner',
      'owner',
      'title',
    ]);
    expectOk(await app.admin.post(`${collection.path}/records`, { code: 'A' }));
    const twice = await app.admin.post(`${collection.path}/records`, { code: 'A' });
    expect(twice.body).toMatchObject({ code: 'conflict', errors: [{ path: 'code' }] });
    const nobody = '00000000-0000-7000-8000-000000000000';
    expect((await app.admin.post(`${collection.path}/records`, { owner: nobody })).status).toBe(400);
  });

  it('another change of the app, and another build in the workspace, get 503 and can be tried again', async () => {
    const collection = await large('changed_twice');
    const other = await workspace.app();
    const elsewhere = await large('changed_elsewhere', [title], other);
    const indexed = [{ ...title, index: true }];
    let others: Answer[] = [];
    const answer = await answerMeanwhile(
      pool,
      beginRead(collection),
      () => change(collection, indexed),
      async () => {
        others = await Promise.all([
          change(collection, [title, { name: 'more', kind: 'number' }]),
          other.admin.patch(elsewhere.path, { schema: { fields: indexed } }),
        ]);
      },
    );
    expectOk(answer);
    expect(others.map(({ status }) => status)).toEqual([503, 503]);
    expect(others.map(({ headers }) => headers.get('Retry-After'))).toEqual(['1', '10']);
    expect(others[1]?.body.message).toContain('indexes of other large collections are being built');
    expectOk(await other.admin.patch(elsewhere.path, { schema: { fields: indexed } }));
    expect(await describeLarge(collection)).toEqual(['index of title', 'title']);
    expect(await describeLarge(elsewhere)).toEqual(['index of title', 'title']);
  });
});

describe('a change of a large collection that fails', () => {
  it('because records have the same value leaves nothing: they can be written as before', async () => {
    const collection = await large('has_twins');
    for (const _ of ['one', 'other']) {
      expectOk(await app.admin.post(`${collection.path}/records`, { title: 'twin' }));
    }
    const more = { name: 'more', kind: 'text', index: true };
    const refused = await change(collection, [{ ...title, unique: true }, more]);
    expect(refused).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(refused.body.errors).toMatchObject([{ path: 'schema.fields.title.unique' }]);
    expect(await describeLarge(collection)).toEqual(['title']);
    expectOk(await app.admin.post(`${collection.path}/records`, { title: 'twin' }));
    expectOk(await change(collection, [title, more]));
    expect(await describeLarge(collection)).toEqual(['index of more', 'more', 'title']);
  });

  it('because a value is too long to be indexed leaves nothing', async () => {
    const collection = await large('has_long_text');
    const long = Array.from({ length: 3_000 }, (_, n) => String.fromCodePoint(0x4e00 + n * 6)).join('');
    expectOk(await app.admin.post(`${collection.path}/records`, { title: long }));
    const refused = await change(collection, [{ ...title, index: true }]);
    expect(refused).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(refused.body.message).toContain('too long to be indexed');
    expect(await describeLarge(collection)).toEqual(['title']);
  });

  it('because its connection is lost leaves nothing', async () => {
    const collection = await large('loses_its_build');
    const fields = [{ ...title, unique: true }, { name: 'more', kind: 'text', index: true }];
    const role = ownerRole(collection.schema);
    const answer = await answerMeanwhile(
      pool,
      async (sql) => {
        await beginRead(collection)(sql);
        await sql.unsafe(`reset role; ${inheritRoleText(role)}`);
      },
      () => change(collection, fields),
      async (sql) => {
        await sql`select pg_terminate_backend(pid) from pg_stat_activity
          where usename = ${role} and query like 'create%concurrently%'`;
        await sql.unsafe(inheritRoleText(role, false));
      },
    );
    expect(answer.status).toBe(503);
    expect(await describeLarge(collection)).toEqual(['title']);
    expectOk(await change(collection, fields));
    expect(await describeLarge(collection)).toEqual([
      'index of more',
      'index of title unique',
      'more',
      'title',
    ]);
  });
});

describe('a reference', () => {
  it('of a large collection gets another end without a look at what is stored', async () => {
    const target = { name: 'target', kind: 'relation', target: 'ends' };
    expectOk(await app.admin.post(`${app.path}/collections`, { schema: { id: 'ends', fields: [title] } }));
    const collection = await large('points', [title, target]);
    const end = expectOk(await app.admin.post(`${app.path}/collections/ends/records`, { title: 'end' }));
    const record = expectOk(await app.admin.post(`${collection.path}/records`, { target: end.id }));
    expectOk(await change(collection, [title, { ...target, cascade_delete: true }]));
    expectOk(await app.admin.delete(`${app.path}/collections/ends/records/${end.id}`));
    expect((await app.admin.get(`${collection.path}/records/${record.id}`)).status).toBe(404);
    const gone = await app.admin.post(`${collection.path}/records`, { target: end.id });
    expect(gone).toMatchObject({ status: 400, body: { code: 'validation' } });
  });
});
