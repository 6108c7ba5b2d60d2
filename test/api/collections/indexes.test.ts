// What the tables of collections have besides their columns: whatever is looked for by another record has an index.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Field } from '../../../storage/definition.ts';
import { type BareApp, bareApp, relationTo } from '../../harness/bare-app.ts';

let app: BareApp;

beforeAll(async () => {
  app = await bareApp();
  await app.define('targets', []);
});
afterAll(() => app.end());

/** Columns that an index begins with, and whether it is a unique one. */
async function indexesOf(collection: string): Promise<Record<string, boolean>> {
  const { schema } = await app.definition();
  const rows = await app.run((sql) =>
    sql<{ column: string; unique: boolean }[]>`
      select attname as column, indisunique as unique from pg_index
        join pg_class on pg_class.oid = indrelid join pg_attribute on attrelid = indrelid and attnum = indkey[0]
      where relname = ${collection} and relnamespace = ${schema}::regnamespace and indisvalid`
  );
  return Object.fromEntries(rows.map(({ column, unique }) => [column, unique]));
}

it('relations, files and fields that ask for one have an index, before and after they were unique', async () => {
  const fields = (options: Partial<Field>): Field[] => [
    relationTo('targets', 'target', options),
    relationTo('users', 'owner', options),
    { name: 'file', kind: 'file', ...options },
    { name: 'title', kind: 'text', index: true, ...options },
    { name: 'note', kind: 'text' },
  ];
  const all = (unique: boolean) => ({ id: true, target: unique, owner: unique, file: unique, title: unique });
  await app.define('indexed', fields({}));
  expect(await indexesOf('indexed')).toEqual(all(false));
  await app.alter('indexed', fields({ unique: true }));
  expect(await indexesOf('indexed')).toEqual(all(true));
  await app.alter('indexed', fields({}));
  expect(await indexesOf('indexed')).toEqual(all(false));
});
