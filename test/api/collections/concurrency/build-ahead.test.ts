// Searches, numbers and indexes over new fields of a large collection are made while its records are written: no write is
// refused, every record has its part, and nothing is left of a change that fails or of a process that was killed.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { attachmentName, qualified } from '../../../../storage/app/tables.ts';
import { nextColumn, searchNames } from '../../../../storage/app/search/names.ts';
import type { Sql } from '../../../../storage/connections/pool.ts';
import { ownerRole } from '../../../../storage/sql/ids.ts';
import { quoteIdentifier } from '../../../../storage/sql/quote.ts';
import { type ApiResponse, expectOk } from '../../../harness/api.ts';
import { type Scenario, scenario, titlesOf } from '../../../harness/scenario.ts';

const records = 40_000;
const title = { name: 'title', kind: 'text' };
const group = { name: 'group', kind: 'text', required: true };
/** Each record has 200 more bytes, so that the table is larger than 8 MiB. */
const filling = { name: 'filling', kind: 'text' };
const fields = [title, group, filling];

let own: Scenario;
let table: { schema: string; collection: string };
let path: string;
let next = 0;

beforeAll(async () => {
  own = await scenario();
});

beforeEach(async () => {
  const collection = `large_${next++}`;
  path = `${own.collections}/${collection}`;
  await own.define(collection, fields);
  await own.inDatabase(async (sql) => {
    const [row] = await sql<{ schema: string }[]>`
      select nspname as schema from pg_class join pg_namespace as n on n.oid = relnamespace
      where relname = ${collection}`;
    table = { schema: row?.schema ?? '', collection };
  });
  await asOwner((sql) =>
    sql.unsafe(`insert into ${qualified(table)} (id, title, "group", filling, created_at, updated_at)
      select gen_random_uuid(), 'old ' || translate(n::text, '0123456789', 'abcdefghij'), n % 3, repeat('x', 200),
        timestamptz '2020-01-01' + n * interval '1 second', timestamptz '2020-01-01'
      from generate_series(1, ${records}) as n`)
  );
});

async function asOwner<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
  return await own.inDatabase(async (sql) => {
    await sql.unsafe(
      `set role ${
        quoteIdentifier(ownerRole(table.schema))
      }; set statement_timeout = 0; set transaction_timeout = 0; set idle_in_transaction_session_timeout = 0`,
    );
    return await work(sql);
  });
}

const patch = (changed: unknown[], more: object = {}, query = '') =>
  own.admin.patch(`${path}${query}`, { schema: { fields: changed, ...more } });

/** Two writers create and change records until the work is done; returns how many they have created. */
async function whileWritten(
  work: () => Promise<ApiResponse>,
): Promise<{ response: ApiResponse; created: number }> {
  const refused: ApiResponse[] = [];
  let created = 0;
  let isDone = false;
  const writer = async (name: string) => {
    while (!isDone) {
      const one = await own.admin.post(`${path}/records`, { title: `new ${name}`, group: '1' });
      if (one.status === 201) created++;
      const two = await own.admin.patch(`${path}/records/${one.body.id}`, { title: `changed ${name}` });
      refused.push(...[one, two].filter(({ status }) => status >= 300));
    }
  };
  const writers = [writer('one'), writer('two')];
  const response = await work();
  isDone = true;
  await Promise.all(writers);
  expect(refused.map(({ status, body }) => [status, body])).toEqual([]);
  return { response, created };
}

const find = async (search: string) =>
  await own.admin.get(`${path}/records?per_page=1&search=${encodeURIComponent(search)}`);

/** Columns, triggers and tables that a build has left. */
async function leftovers(): Promise<string[]> {
  return await asOwner(async (sql) => {
    const rows = await sql<{ name: string }[]>`
      select attname as name from pg_attribute
        where attrelid = ${qualified(table)}::text::regclass and attnum > 0 and not attisdropped
      union all select tgname from pg_trigger where tgrelid = ${
      qualified(table)
    }::text::regclass and not tgisinternal
      union all select relname from pg_class join pg_namespace as n on n.oid = relnamespace
        where nspname = ${table.schema} and relname ~ '_noted$'`;
    const own = new Set(['id', 'created_at', 'updated_at', ...fields.map(({ name }) => name)]);
    return rows.map(({ name }) => name).filter((name) => !own.has(name));
  });
}

describe('of a large collection, while two writers write', { timeout: 120_000 }, () => {
  it('search is turned on, and another language takes its place', async () => {
    const searched = [{ ...title, search: true }, group, filling];
    const first = await whileWritten(() => patch(searched));
    expectOk(first.response);
    expect((await find('old')).body.total_items).toBe(records);
    expect((await find('changed')).body.total_items).toBe(first.created);
    expect(titlesOf(await find('changd one'))).toEqual(['changed one']);
    const words = () =>
      asOwner((sql) =>
        sql.unsafe<{ word: string }[]>(
          `select word from ${searchNames(table).words} where word ~ '^[c-n]' order by 1`,
        )
      );
    // Words that are in no record were deleted.
    expect((await words()).map(({ word }) => word).filter((word) => word.length > 5)).toEqual(['changed']);
    const second = await whileWritten(() => patch(searched, { language: 'english' }));
    expectOk(second.response);
    expect((await find('change')).body.total_items).toBe(first.created + second.created);
    expect((await find('old')).body.total_items).toBe(records);
    const renamed = [{ name: 'name', kind: 'text', search: true, was: 'title' }, group, filling];
    expectOk(await patch(renamed, { language: 'english' }));
    expectOk(await own.admin.post(`${path}/records`, { name: 'renamed', group: '1' }));
    expect((await find('renamed')).body.total_items).toBe(1);
    expectOk(await patch([{ ...title, was: 'name' }, group, filling]));
    expect(await leftovers()).toEqual([]);
  });

  it('records are numbered by a new field', async () => {
    const number = { name: 'number', kind: 'number', autonumber: { within: 'group' } };
    const { response, created } = await whileWritten(() => patch([...fields, number]));
    expectOk(response);
    const rows = await asOwner((sql) =>
      sql.unsafe<
        {
          group: string;
          records: number;
          least: number;
          greatest: number;
          numbers: number;
          is_sorted: boolean;
        }[]
      >(
        `select "group", count(*)::int as records, min(number)::int as least, max(number)::int as greatest,
           count(distinct number)::int as numbers, bool_and(number = place) as is_sorted
         from (select *, row_number() over (partition by "group" order by created_at, id) as place
           from ${qualified(table)} where created_at < '2021-01-01') as r group by 1 order by 1`,
      )
    );
    const third = Math.floor(records / 3);
    expect(rows).toEqual([third, records - 2 * third, third].map((count, at) => ({
      ...{ group: String(at), records: count, least: 1, greatest: count, numbers: count, is_sorted: true },
    })));
    const last = expectOk(await own.admin.post(`${path}/records`, { group: '1' }));
    expect(last.fields.number).toBe(records - 2 * third + created + 1);
    expect((await own.admin.post(`${path}/records`, { group: '0' })).body.fields.number).toBe(third + 1);
    expectOk(await patch(fields, {}, '?confirm=drop'));
    expect(await leftovers()).toEqual([]);
  });

  it('indexes over new fields are built, with the defaults of all records', async () => {
    const added = [
      { name: 'state', kind: 'text', default: 'open', required: true, index: true },
      { name: 'key', kind: 'text', unique: true },
      { name: 'tags', kind: 'select', many: true, options: ['a', 'b'], index: true },
    ];
    const indexes = [{ fields: ['group', 'key'], unique: true }];
    const { response } = await whileWritten(() => patch([...fields, ...added], { indexes }, '?fill=default'));
    expectOk(response);
    const open = await own.admin.get(
      `${path}/records?per_page=1&filter=${encodeURIComponent("state != 'open' && title ~ 'old'")}`,
    );
    expect(open.body.total_items).toBe(0);
    const made = expectOk(await own.admin.post(`${path}/records`, { group: '1', key: 'k', tags: ['a'] }));
    expect(made.fields).toMatchObject({ state: 'open', key: 'k', tags: ['a'] });
    expect((await own.admin.post(`${path}/records`, { group: '2', key: 'k' })).status).toBe(409);
  });
});

describe('of a large collection', { timeout: 60_000 }, () => {
  it('nothing is left of a change that its records do not admit', async () => {
    const added = [
      { name: 'number', kind: 'number', autonumber: true },
      { name: 'key', kind: 'text', default: 'same', unique: true },
    ];
    const searched = [{ ...title, search: true }, group, filling];
    const refused = await patch([...searched, ...added], {}, '?fill=default');
    expect([refused.status, refused.body.errors[0].path]).toEqual([409, 'schema.fields.key.unique']);
    expect(await leftovers()).toEqual([]);
    expectOk(await own.admin.post(`${path}/records`, { group: '1' }));
  });

  it('the next change removes what a killed process has left, or begins anew', async () => {
    const counter = attachmentName('number', table.collection, 'number');
    const leave = () =>
      asOwner((sql) =>
        sql.unsafe(
          `alter table ${qualified(table)} add column ${nextColumn} tsvector, add column number float8;
          create table ${searchNames(table, nextColumn).words} (word text);
          create trigger "${counter}" before insert on ${qualified(table)} for each row
            execute function ${
            qualified({ ...table, collection: '_autonumber' })
          }('${counter}', 'number', '')`,
        )
      );
    await leave();
    expect((await own.admin.post(`${path}/records`, { group: '1' })).status).toBe(201);
    expectOk(await patch([...fields, { name: 'more', kind: 'bool' }]));
    expect((await leftovers()).toSorted()).toEqual(['more']);
    await leave();
    const number = { name: 'number', kind: 'number', autonumber: true };
    expectOk(
      await patch([{ ...title, search: true }, group, filling, { name: 'more', kind: 'bool' }, number]),
    );
    expect((await find('old')).body.total_items).toBe(records);
    await own.admin.delete(path);
    await own.define(table.collection, [{ ...title, search: true }]);
  });
});
