// Deadlocks of writes, brought about as often as the test wants.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { type Scenario, scenario } from '../../harness/scenario.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { lockCollections } from '../../../storage/app/collections.ts';
import { ownerRole } from '../../../storage/sql/ids.ts';
import { quoteIdentifier } from '../../../storage/sql/quote.ts';
import { qualified } from '../../../storage/app/tables.ts';

let app: Scenario;
let batch: string;

beforeAll(async () => {
  app = await scenario();
  for (const id of ['deadlock_first', 'deadlock_second']) {
    await app.define(id, [{ name: 'title', kind: 'text' }]);
  }
  batch = app.collections.replace(/collections$/, 'batch');
});

interface Place {
  collection: string;
  id: string;
}

async function create(collection: string): Promise<Place> {
  const { id } = expectOk(
    await app.admin.post(`${app.collections}/${collection}/records`, { title: 'as it was' }),
  );
  return { collection, id };
}

async function titleOf({ collection, id }: Place): Promise<string> {
  return expectOk(await app.admin.get(`${app.collections}/${collection}/records/${id}`)).fields.title;
}

/** PostgreSQL has ended another transaction than it was to, or the batch ended too early. */
class WrongVictim extends Error {}

/** Whom to wait for. */
interface Awaited {
  /** Is in the statement that waits. */
  table?: string;
  seen: ReadonlySet<string>;
  batch: Promise<unknown>;
}

/**
 * Waits until a transaction of the app, none of the `seen` ones, has waited for the second record so long that it will notice
 * a deadlock before any that begins to wait now. Returns which. Throws `WrongVictim` when the batch ends before.
 */
async function waiter(
  sql: Sql,
  schema: string,
  { table = 'deadlock_second', seen, batch }: Awaited,
): Promise<string> {
  let isAnswered = false;
  void batch.then(() => isAnswered = true);
  while (!isAnswered) {
    // Within a transaction the view would stay as it was first seen.
    await sql`select pg_stat_clear_snapshot()`;
    const rows = await sql<{ id: string }[]>`
      select pid || ' ' || xact_start as id from pg_stat_activity
      where usename in (${schema}, ${
      ownerRole(schema)
    }) and wait_event_type = 'Lock' and query like ${`%${table}%`}
        and clock_timestamp() - query_start > interval '400 ms'`;
    const found = rows.find(({ id }) => !seen.has(id));
    if (found !== undefined) return found.id;
  }
  throw new WrongVictim();
}

/**
 * Sends a batch that changes two records, while a transaction holds the second one and asks for the first one as soon as
 * the batch waits: the batch has waited longer, so PostgreSQL ends it. Then it lets the first one go, `times` times over.
 * On a machine that is busy enough PostgreSQL may look at the batch too early: then all of it is done again.
 */
function deadlock(times: number) {
  return untilHit(() => deadlockOnce(times));
}

async function untilHit<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof WrongVictim)) throw error;
    }
  }
}

async function deadlockOnce(times: number) {
  const [first, second] = [await create('deadlock_first'), await create('deadlock_second')];
  const change = (place: Place) => ({ method: 'PATCH', ...place, body: { title: 'changed' } });
  const response = await app.inDatabase(async (sql) => {
    const [{ schema } = { schema: '' }] = await sql<{ schema: string }[]>`
      select schemaname as schema from pg_tables where tablename = 'deadlock_first'`;
    const touch = ({ collection, id }: Place) =>
      sql.unsafe(`update ${qualified({ schema, collection })} set title = 'held' where id = $1::uuid`, [id]);
    await sql.unsafe(`begin; set local role ${quoteIdentifier(schema)}`);
    await touch(second);
    await sql`savepoint held`;
    const answering = app.admin.post(batch, { requests: [change(first), change(second)] });
    const seen = new Set<string>();
    try {
      for (let round = 0; round < times; round++) {
        seen.add(await waiter(sql, schema, { seen, batch: answering }));
        await touch(first).catch(asWrongVictim);
        await sql`rollback to savepoint held`;
      }
      if (times < 5) await waiter(sql, schema, { seen, batch: answering });
    } finally {
      await sql`rollback`;
    }
    return await answering;
  });
  return { response, titles: [await titleOf(first), await titleOf(second)] };
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
function asWrongVictim(error: unknown): never {
  throw error instanceof Error && Reflect.get(error, 'code') === '40P01' ? new WrongVictim() : error;
}

describe('a write that is ended because it and another wait for each other', () => {
  it('is done again until nothing is in its way', async () => {
    const { response, titles } = await deadlock(3);
    expect(expectOk(response).results).toHaveLength(2);
    expect(titles).toEqual(['changed', 'changed']);
  });

  it('is given up after five times, with 503 and nothing done', async () => {
    const { response, titles } = await deadlock(5);
    expectError(response, 503, 'unavailable');
    expect(response.headers.get('Retry-After')).toBe('1');
    expect(response.body.message).toContain('other writes of the same records');
    expect(titles).toEqual(['as it was', 'as it was']);
  });
});

describe('a batch of an admin', () => {
  const [low, high] = ['01890000-0000-7000-8000-000000000001', '01890000-0000-7000-8000-000000000002'];
  const inFirst = { collection: 'deadlock_first', id: high };
  const lowInSecond = { collection: 'deadlock_second', id: low };
  const highInSecond = { collection: 'deadlock_second', id: high };

  it.each([
    { of: 'its records', held: lowInSecond, other: highInSecond },
    { of: 'its collections', held: inFirst, other: lowInSecond },
  ])(
    'takes $of in one order, whatever its own is, so that two of them end each other no more',
    async ({ held, other }) => {
      for (const { collection, id } of [other, held]) {
        await app.admin.delete(`${app.collections}/${collection}/records/${id}`);
        expectOk(
          await app.admin.post(`${app.collections}/${collection}/records`, { id, title: 'as it was' }),
        );
      }
      const change = (place: Place) => ({ method: 'PATCH', ...place, body: { title: 'changed' } });
      const { response, free } = await app.inDatabase(async (sql) => {
        const [{ schema } = { schema: '' }] = await sql<{ schema: string }[]>`
        select schemaname as schema from pg_tables where tablename = 'deadlock_second'`;
        const tableOf = ({ collection }: Place) => qualified({ schema, collection });
        await sql.unsafe(`begin; set local role ${quoteIdentifier(schema)}`);
        await sql.unsafe(`select from ${tableOf(held)} where id = $1::uuid for update`, [held.id]);
        const answering = app.admin.post(batch, { requests: [change(other), change(held)] });
        await waiter(sql, schema, { table: held.collection, seen: new Set(), batch: answering });
        const free = await sql.unsafe(`select id from ${tableOf(other)} for update skip locked`);
        await sql`rollback`;
        return { response: await answering, free: free.map(({ id }) => id) };
      });
      expect(expectOk(response).results).toHaveLength(2);
      expect(free).toContain(other.id);
    },
  );
});

describe('a batch of an end-user', () => {
  it('holds up nobody’s records that it may not change, while it waits for its own', async () => {
    const user = await app.user();
    const fields = [{ name: 'title', kind: 'text' }, { name: 'owner', kind: 'relation', target: 'users' }];
    const records = await app.define('deadlock_owned', fields, { update: 'owner = @request.auth.id' });
    const ids = {
      foreign: '01890000-0000-7000-8000-000000000001',
      own: '01890000-0000-7000-8000-000000000002',
    };
    await app.make(records, { id: ids.foreign });
    await app.make(records, { id: ids.own, owner: user.id });
    const requests = [ids.own, ids.foreign].map((id) => (
      { method: 'PATCH', collection: 'deadlock_owned', id, body: { title: 'changed' } }
    ));
    const { response, free } = await app.inDatabase(async (sql) => {
      const [{ schema } = { schema: '' }] = await sql<{ schema: string }[]>`
        select schemaname as schema from pg_tables where tablename = 'deadlock_owned'`;
      const table = qualified({ schema, collection: 'deadlock_owned' });
      await sql.unsafe(`begin; set local role ${quoteIdentifier(schema)}`);
      await sql.unsafe(`select from ${table} where id = $1::uuid for update`, [ids.own]);
      const answering = user.post(batch, { requests });
      await waiter(sql, schema, { table: 'deadlock_owned', seen: new Set(), batch: answering });
      const free = await sql.unsafe(`select id from ${table} for update skip locked`);
      await sql`rollback`;
      return { response: await answering, free: free.map(({ id }) => id) };
    });
    expectError(response, 403, 'forbidden');
    expect(free).toContain(ids.foreign);
  });
});

/** Changes a collection while a transaction writes to it, and asks for the app's lock as soon as the change waits. */
async function changeOnce(collection: string) {
  await app.define(collection, [{ name: 'title', kind: 'text' }]);
  return await app.inDatabase(async (sql) => {
    const [{ schema } = { schema: '' }] = await sql<{ schema: string }[]>`
      select schemaname as schema from pg_tables where tablename = ${collection}`;
    // Else what the change waits for could not be seen.
    await sql.unsafe(`begin; set local role ${quoteIdentifier(ownerRole(schema))}`);
    await sql.unsafe(`lock table ${qualified({ schema, collection })} in row exclusive mode`);
    const answering = app.admin.patch(`${app.collections}/${collection}`, {
      schema: { fields: [{ name: 'title', kind: 'text' }, { name: 'more', kind: 'number' }] },
    });
    try {
      await waiter(sql, schema, { table: collection, seen: new Set(), batch: answering });
      await lockCollections(sql, schema).catch(asWrongVictim);
    } finally {
      await sql`rollback`;
    }
    return await answering;
  });
}

describe('a change of a collection', () => {
  it('that is ended because it and a write wait for each other is made again', async () => {
    let attempts = 0;
    const response = await untilHit(() => changeOnce(`deadlock_change_${++attempts}`));
    expect(expectOk(response).schema.fields).toHaveLength(2);
  });
});
