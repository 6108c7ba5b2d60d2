// The limits of what is deleted along with one record.
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeStored } from '../../../../api/files/remove.ts';
import { removeUser } from '../../../../api/users/remove.ts';
import { LocalBlobs } from '../../../../storage/blobs/local.ts';
import type { Field } from '../../../../storage/definition.ts';
import { insertFile } from '../../../../storage/app/files.ts';
import { qualified } from '../../../../storage/app/tables.ts';
import { insertUser } from '../../../../storage/workspace/user-accounts.ts';
import { type BareApp, bareApp, created, later, relationTo } from '../../../harness/bare-app.ts';

let app: BareApp;

beforeAll(async () => {
  app = await bareApp();
  await app.define('authors', [{ name: 'name', kind: 'text' }]);
});
afterAll(() => app.end());

const tooMany = {
  code: 'conflict',
  message: 'more than 10000 records depend on this one; delete some of them first',
};

/** A collection with one field, and this many records that point to something by it. */
async function pointing(field: Field, { id, records }: { id: string; records: number }): Promise<string> {
  const collection = `many_${randomUUID().slice(0, 8)}`;
  await app.define(collection, [field]);
  await point(collection, { field: field.name, id, records });
  return collection;
}

async function point(
  collection: string,
  { field, id, records }: { field: string; id: string; records: number },
): Promise<void> {
  const table = qualified({ schema: (await app.definition()).schema, collection });
  await app.run((sql) =>
    sql.unsafe(
      `insert into ${table} (id, "${field}", created_at, updated_at)
       select gen_random_uuid(), $1::uuid, now(), now() from generate_series(1, $2)`,
      [id, records],
    )
  );
}

/** Deletes one of those. */
async function dropOne(collection: string, { name }: Pick<Field, 'name'>): Promise<void> {
  const table = qualified({ schema: (await app.definition()).schema, collection });
  await app.run((sql) =>
    sql.unsafe(`delete from ${table} where id in (select id from ${table} where id <> "${name}" limit 1)`)
  );
}

describe('deleting a record', () => {
  it.each([
    { then: 'that would go', options: { cascade_delete: true } },
    { then: 'that would be left without a value', options: {} },
  ])(
    'rule.relation-target: refuses more than 10,000 records $then, and changes nothing',
    async ({ options }) => {
      const author = await app.create('authors');
      const field = relationTo('authors', 'author', options);
      const collection = await pointing(field, { id: author.id, records: 10_001 });
      await expect(app.remove('authors', author)).rejects.toMatchObject(tooMany);
      await dropOne(collection, field);
      const { deleted, updated } = await app.remove('authors', author);
      expect([deleted.length, updated.length]).toEqual(
        options.cascade_delete === true ? [10_001, 0] : [1, 10_000],
      );
    },
  );

  it.each([
    { then: 'go', options: { cascade_delete: true }, left: 0 },
    { then: 'are left without a value', options: {}, left: 10_000 },
  ])('counts the others that $then where it points to itself', async ({ options, left }) => {
    const steps = `steps_${randomUUID().slice(0, 8)}`;
    const field = relationTo(steps, 'first', options);
    await app.define(steps, [field]);
    const step = await app.create(steps);
    await app.change(steps, step, { first: step.id });
    await point(steps, { field: field.name, id: step.id, records: 10_001 });
    await expect(app.remove(steps, step)).rejects.toMatchObject(tooMany);
    expect(await app.count(steps)).toBe(10_002);
    await dropOne(steps, field);
    const { deleted, updated } = await app.remove(steps, step);
    expect([deleted.length, updated.length]).toEqual([10_001 - left, left]);
    expect(await app.count(steps)).toBe(left);
  });

  it('refuses records that are too large to go at once', async () => {
    // A column of the name that statements give to the table.
    const named: Field = { name: 'r', kind: 'number' };
    const relation = relationTo('authors', 'author', { cascade_delete: true });
    await app.define('heavy', [relation, { name: 'text', kind: 'text' }, named]);
    const author = await app.create('authors');
    const text = 'x'.repeat(700_000);
    for (let n = 0; n < 100; n++) await app.create('heavy', { author: author.id, text });
    await expect(app.remove('authors', author)).rejects.toMatchObject({
      code: 'conflict',
      message: 'the records that depend on this one are too large to go at once; delete some of them first',
    });
    expect(await app.count('heavy')).toBe(100);
  });
});

describe.each([
  { then: 'that would go', options: { cascade_delete: true } },
  { then: 'that would be left without a value', options: {} },
])('more than 10,000 records $then', ({ options }) => {
  it('keep a user', async () => {
    const { workspace } = await app.definition();
    const id = app.deps.newId();
    const user = { id, email: `${id}@example.com`, password_hash: null, verified: true, now: created };
    await app.deps.databases.workspace(workspace.database).run((sql) => insertUser(sql, user));
    const field = relationTo('users', 'owner', options);
    const collection = await pointing(field, { id, records: 10_001 });
    const leave = () => removeUser(app.deps, { workspace, id }, { ...app.by, now: later });
    await expect(leave()).rejects.toMatchObject(tooMany);
    await dropOne(collection, field);
    await leave();
  });
});

describe('more than 10,000 records that hold a file', () => {
  it('keep it', async () => {
    const definition = await app.definition();
    const id = app.deps.newId();
    const file = { id, filename: 'a', mime: 'text/plain', size: 1, uploaded_by: null, created_at: created };
    await app.run((sql) => insertFile(sql, definition.schema, file));
    const field: Field = { name: 'picture', kind: 'file' };
    const collection = await pointing(field, { id, records: 10_001 });
    const deps = { ...app.deps, blobs: new LocalBlobs(join(tmpdir(), `bulkhead-no-blobs-${id}`)) };
    const remove = async () =>
      await removeStored(deps, await app.definition(), { id, caller: undefined, now: later });
    await expect(remove()).rejects.toMatchObject(tooMany);
    await dropOne(collection, field);
    await remove();
  });
});
