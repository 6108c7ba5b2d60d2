// Searches in databases of before: with a generated column of words, and without the extension that finds typing errors.
import { beforeEach, expect, it } from 'vitest';
import { searchNames } from '../../../../storage/app/search/names.ts';
import { ownerRole } from '../../../../storage/sql/ids.ts';
import { quoteIdentifier } from '../../../../storage/sql/quote.ts';
import { expectOk } from '../../../harness/api.ts';
import { type Scenario, scenario, titlesOf } from '../../../harness/scenario.ts';

const title = { name: 'title', kind: 'text', search: true };
let made: Scenario;

beforeEach(async () => {
  made = await scenario();
});

const find = async (records: string, search: string) =>
  titlesOf(await made.admin.get(`${records}?search=${search}`));
const change = async (id: string, fields: unknown[], more: object = {}) =>
  expectOk(await made.admin.patch(`${made.collections}/${id}`, { schema: { fields, ...more } }));

it('a generated column goes on, follows its field, and is replaced', async () => {
  const records = await made.define('older', [title]);
  await made.inDatabase(async (sql) => {
    const [app] = await sql<{ schema: string }[]>`
      select nspname as schema from pg_class join pg_namespace as n on n.oid = relnamespace
      where relname = 'older'`;
    const schema = app?.schema ?? '';
    const { table, vector, index } = searchNames({ schema, collection: 'older' });
    const words = `setweight(to_tsvector('simple'::regconfig, left(coalesce(title, ''), 100000)), 'A')`;
    await sql.unsafe(`set role ${quoteIdentifier(ownerRole(schema))};
      drop function ${vector}() cascade; alter table ${table} drop column _search;
      alter table ${table} add column _search tsvector generated always as (${words}) stored;
      create index ${index} on ${table} using gin (_search) with (fastupdate = off)`);
  });
  await made.make(records, { title: 'running kiwi' });
  expect(await find(records, 'kwii')).toEqual(['running kiwi']);
  await change('older', [{ ...title, name: 'name', was: 'title' }]);
  await made.make(records, { name: 'mango' });
  expect(expectOk(await made.admin.get(`${records}?search=mango`)).total_items).toBe(1);
  await change('older', [{ ...title, was: 'name' }], { language: 'english' });
  await made.make(records, { title: 'he runs' });
  expect((await find(records, 'run')).toSorted()).toEqual(['he runs', 'running kiwi']);
  await change('older', [{ name: 'title', kind: 'text' }]);
  await change('older', [title]);
  expect(await find(records, 'magno')).toEqual(['mango']);
});

it('without pg_trgm, words and their beginnings are found, and no words with typing errors', async () => {
  await made.inDatabase((sql) => sql`drop extension pg_trgm`);
  const records = await made.define('exact', [title]);
  await made.make(records, { title: 'kiwi' });
  expect(await find(records, 'kiwi')).toEqual(['kiwi']);
  expect(await find(records, 'ki')).toEqual(['kiwi']);
  expect(await find(records, 'kwii')).toEqual([]);
  await made.inDatabase((sql) => sql`create extension pg_trgm schema extensions`);
  // The next change notices.
  await change('exact', [title, { name: 'other', kind: 'text' }]);
  expect(await find(records, 'kwii')).toEqual(['kiwi']);
});
