// Indexes of a large collection are built while its records are written: no write is refused, and no index is left of a
// change that fails.
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { attachmentName, indexName, qualified } from '../../../../storage/app/tables.ts';
import type { Sql } from '../../../../storage/connections/pool.ts';
import { ownerRole } from '../../../../storage/sql/ids.ts';
import { quoteIdentifier } from '../../../../storage/sql/quote.ts';
import { type ApiResponse, expectOk } from '../../../harness/api.ts';
import { type Scenario, scenario } from '../../../harness/scenario.ts';

const records = 200_000;
/** The machine may be slow. */
const unbounded =
  'set statement_timeout = 0; set transaction_timeout = 0; set idle_in_transaction_session_timeout = 0';
const key = { name: 'key', kind: 'text' };
const size = { name: 'size', kind: 'number' };

let own: Scenario;
let table: string;
let owner: string;
let collection: string;
let path: string;
let next = 0;

beforeAll(async () => {
  own = await scenario();
});

/** Each test has a collection with 200,000 records, whose keys differ and whose sizes do not. */
beforeEach(async () => {
  collection = `large_${next++}`;
  path = `${own.collections}/${collection}`;
  await own.define(collection, [key, size]);
  await own.inDatabase(async (sql) => {
    const [row] = await sql<{ schema: string }[]>`
      select nspname as schema from pg_class join pg_namespace as n on n.oid = relnamespace
      where relname = ${collection}`;
    const schema = row?.schema ?? '';
    table = qualified({ schema, collection });
    owner = quoteIdentifier(ownerRole(schema));
    await sql.unsafe(`set role ${owner}; ${unbounded}`);
    await sql.unsafe(`insert into ${table} (id, key, size, created_at, updated_at)
      select gen_random_uuid(), 'a key of some length ' || n, n / 2, now(), now()
      from generate_series(1, ${records}) as n`);
  });
});

/** Runs statements as the owner of the table. */
async function asOwner<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
  return await own.inDatabase(async (sql) => {
    await sql.unsafe(`set role ${owner}; ${unbounded}`);
    return await work(sql);
  });
}

async function indexNames(): Promise<string[]> {
  const rows = await asOwner((sql) =>
    sql<{ name: string }[]>`select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
      where indrelid = ${table}::text::regclass and not indisprimary`
  );
  return rows.map(({ name }) => name);
}

const patch = (fields: unknown[], more: object = {}) =>
  own.admin.patch(path, { schema: { fields, ...more } });

/** Waits until a build has begun, or has come to a phase. */
async function untilBuilding(phase = ''): Promise<void> {
  await vi.waitUntil(
    () =>
      asOwner(async (sql) => {
        const rows =
          await sql`select from pg_stat_progress_create_index where relid = ${table}::text::regclass and starts_with(phase, ${phase})`;
        return rows.length > 0;
      }),
    { timeout: 10_000, interval: 20 },
  );
}

/** Does work while another session has a transaction open that a build has to wait for. */
async function whileHeld(hold: (sql: Sql) => Promise<unknown>, work: () => Promise<void>): Promise<void> {
  await asOwner(async (sql) => {
    await sql`begin isolation level repeatable read`;
    await hold(sql);
    try {
      await work();
    } finally {
      await sql`rollback`;
    }
  });
}

function present(response: Promise<ApiResponse> | undefined): Promise<ApiResponse> {
  if (response === undefined) throw new Error('nothing was sent');
  return response;
}

const withSnapshot = (sql: Sql) => sql`select`;
const withRow = (sql: Sql) =>
  sql.unsafe(`insert into ${table} (id, created_at, updated_at) values (gen_random_uuid(), now(), now())`);

describe('an index of a large collection', () => {
  it('is built while a writer writes all the time, and no write gets 503', { timeout: 60_000 }, async () => {
    const statuses = new Map<number, number>();
    let isBuilding = true;
    const writer = async (name: string) => {
      for (let n = 0; isBuilding; n++) {
        const { status } = await own.admin.post(`${path}/records`, { key: `${name} ${n}`, size: n });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    const writers = [writer('one'), writer('two')];
    const indexes = [{ fields: ['size', 'key'], unique: true }];
    const changed = await patch([{ ...key, unique: true }, { ...size, index: true }], { indexes });
    isBuilding = false;
    await Promise.all(writers);
    expectOk(changed);
    expect([...statuses.keys()]).toEqual([201]);
    expect(statuses.get(201)).toBeGreaterThan(10);
    expect((await indexNames()).toSorted()).toEqual([
      attachmentName('index', collection, 'size'),
      attachmentName('unique', collection, 'key'),
      indexName(collection, { fields: ['size', 'key'], unique: true }),
    ].toSorted());
    const double = await own.admin.post(`${path}/records`, { key: 'a key of some length 7' });
    expect(double.body.errors).toMatchObject([{ path: 'key', code: 'taken' }]);
    // They are the collection's own: they go as they came.
    expectOk(await patch([key, size], { indexes: [] }));
    expect(await indexNames()).toEqual([]);
  });

  it('keeps other changes of tables waiting, not rules and writes', { timeout: 60_000 }, async () => {
    let built: Promise<ApiResponse> | undefined;
    await whileHeld(withSnapshot, async () => {
      built = patch([key, { ...size, index: true }]);
      await untilBuilding();
      const refused = [
        await patch([key, size, { name: 'more', kind: 'bool' }]),
        await own.admin.delete(path),
        await own.admin.post(own.collections, { schema: { id: 'other', fields: [] } }),
      ];
      for (const { status, body, headers } of refused) {
        expect([status, body.code, headers.get('Retry-After')], body.message).toEqual([
          503,
          'unavailable',
          '5',
        ]);
      }
      await own.setRules(collection, { list: 'any' });
      expectOk(await own.admin.post(`${path}/records`, { key: 'new' }));
      expect((await own.admin.get(path)).body.schema.fields).toEqual([key, size]);
    });
    expect(expectOk(await present(built)).schema.fields).toEqual([key, { ...size, index: true }]);
    expectOk(await patch([key, size]));
  });

  it('is not made unique over doubles: the error says how many, and nothing is left', async () => {
    const refused = await patch([{ ...key, index: true }, { ...size, unique: true }]);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      `size: cannot be unique, because ${records - 2} records have the same value`,
    ]);
    expect(await indexNames()).toEqual([]);
    expect((await own.admin.get(path)).body.schema.fields).toEqual([key, size]);
    expectOk(await own.admin.post(`${path}/records`, { size: 7 }));
  });

  it('is not made unique over doubles that appear meanwhile', { timeout: 60_000 }, async () => {
    let built: Promise<ApiResponse> | undefined;
    await whileHeld(withRow, async () => {
      built = patch([{ ...key, unique: true }, size]);
      await untilBuilding();
      expectOk(await own.admin.post(`${path}/records`, { key: 'a key of some length 7' }));
    });
    const refused = await present(built);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      'key: cannot be unique, because 2 records have the same value',
    ]);
    expect(await indexNames()).toEqual([]);
  });

  it('refuses doubles from before it is the collection’s own', { timeout: 60_000 }, async () => {
    let built: Promise<ApiResponse> | undefined;
    await whileHeld(withSnapshot, async () => {
      built = patch([key, size], { indexes: [{ fields: ['key', 'size'], unique: true }] });
      await untilBuilding('waiting for old snapshots');
      const double = await own.admin.post(`${path}/records`, { key: 'a key of some length 7', size: 3 });
      const message = 'another record has the same values in fields that are about to be unique';
      expect([double.status, double.body]).toEqual([409, { code: 'conflict', message }]);
    });
    expectOk(await present(built));
  });

  it('takes the place of what a killed process has left', async () => {
    const names = ['key', 'size'].map((name) => attachmentName('unique', collection, name));
    await asOwner(async (sql) => {
      for (const name of names) await sql.unsafe(`create index "${name}" on ${table} (created_at)`);
    });
    expectOk(await patch([{ ...key, unique: true }, size]));
    expect(await indexNames()).toEqual([attachmentName('unique', collection, 'key')]);
    expect((await own.admin.post(`${path}/records`, { key: 'a key of some length 7' })).status).toBe(409);
  });
});
