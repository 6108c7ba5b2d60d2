// What PostgreSQL does by itself when a target is deleted in another way than by the API.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attachmentName, qualified } from '../../../../storage/app/tables.ts';
import { selectRecord } from '../../../../storage/app/records/records.ts';
import { planFor } from '../../../../storage/app/records/plan.ts';
import { type BareApp, bareApp, relationTo } from '../../../harness/bare-app.ts';

let app: BareApp;

beforeAll(async () => {
  app = await bareApp();
  await app.define('people', [{ name: 'name', kind: 'text' }]);
});
afterAll(() => app.end());

async function tableOf(collection: string): Promise<string> {
  return qualified({ schema: (await app.definition()).schema, collection });
}

async function deleteFrom(collection: string, id: string): Promise<void> {
  const table = await tableOf(collection);
  await app.run((sql) => sql.unsafe(`delete from ${table} where id = $1::uuid`, [id]));
}

async function read(collection: string, id: string) {
  const target = await app.target(collection);
  return await app.run((sql) => selectRecord(sql, planFor(target.app.schema, target.collection), id));
}

/** The links of a collection's field `members`: those of each of its records, in no order. */
async function linksOf(collection: string): Promise<string[]> {
  const links = await tableOf(attachmentName('link', collection, 'members'));
  const rows = await app.run((sql) => sql.unsafe<{ target: string }[]>(`select target::text from ${links}`));
  return rows.map(({ target }) => target).sort();
}

describe('a target that is deleted by a statement alone', () => {
  it('leaves the array, and the link goes', async () => {
    await app.define('loose', [relationTo('people', 'members', { many: true })]);
    const [a, b] = [await app.create('people'), await app.create('people')];
    const record = await app.create('loose', { members: [a.id, b.id] });
    expect(await linksOf('loose')).toEqual([a.id, b.id].sort());
    await deleteFrom('people', a.id);
    expect(await read('loose', record.id)).toMatchObject({ fields: { members: [b.id] } });
    expect(await linksOf('loose')).toEqual([b.id]);
    await app.change('loose', record, { members: [] });
    expect(await linksOf('loose')).toEqual([]);
    await app.change('loose', record, { members: [b.id] });
    await app.remove('loose', record);
    expect(await linksOf('loose')).toEqual([]);
  });

  it('is kept by a required field whose last item it is', async () => {
    await app.define('strict', [relationTo('people', 'members', { many: true, required: true })]);
    const [a, b] = [await app.create('people'), await app.create('people')];
    const record = await app.create('strict', { members: [a.id, b.id] });
    await deleteFrom('people', a.id);
    await expect(deleteFrom('people', b.id)).rejects.toMatchObject({ failure: 'restricted' });
    expect(await read('strict', record.id)).toMatchObject({ fields: { members: [b.id] } });
  });

  it('takes the record along where the field says so', async () => {
    await app.define('bound', [relationTo('people', 'members', { many: true, cascade_delete: true })]);
    const [a, b] = [await app.create('people'), await app.create('people')];
    const record = await app.create('bound', { members: [a.id, b.id] });
    await deleteFrom('people', b.id);
    expect(await read('bound', record.id)).toBeUndefined();
    expect(await linksOf('bound')).toEqual([]);
  });

  it('leaves the array also when it is a user, whom another role deletes', async () => {
    await app.define('circle', [relationTo('users', 'members', { many: true })]);
    const { workspace } = await app.definition();
    const users = app.deps.databases.workspace(workspace.database);
    const [a, b] = [randomUUID(), randomUUID()];
    for (const id of [a, b]) {
      await users.run((sql) =>
        sql.unsafe(
          `insert into workspace.users (id, email, created_at, updated_at) values ($1::uuid, $1 || '@example.com', now(), now())`,
          [id],
        )
      );
    }
    const record = await app.create('circle', { members: [b, a] });
    await users.run((sql) => sql.unsafe('delete from workspace.users where id = $1::uuid', [b]));
    expect(await read('circle', record.id)).toMatchObject({ fields: { members: [a] } });
  });
});
