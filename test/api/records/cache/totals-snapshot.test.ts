// Totals of processes beside which others write: cached as long as statements see the same of the database.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listRecords } from '../../../../api/records/list.ts';
import { snapshotCache } from '../../../../api/records/cache/record-cache.ts';
import type { RecordCache } from '../../../../api/records/ports.ts';
import { unboundedAccess } from '../../../../api/rules/access.ts';
import type { CountedRecords } from '../../../../storage/app/records/records.ts';
import type { Sql } from '../../../../storage/connections/pool.ts';
import { type BareApp, bareApp, relationTo } from '../../../harness/bare-app.ts';
import { soleWriter } from '../../../harness/sole-writer.ts';

let app: BareApp;
const access = unboundedAccess('list', new Date());
const page = { page: 1, per_page: 1, count: true };
const insert = (sql: Sql, title: string) =>
  sql.unsafe(
    `insert into posts (id, title, created_at, updated_at) values (gen_random_uuid(), $1, now(), now())`,
    [title],
  );

beforeAll(async () => {
  app = await bareApp();
  await app.define('posts', [{ name: 'title', kind: 'text' }, relationTo('users', 'owner')]);
});
afterAll(() => app.end());

/** A cache, and how often the database was asked for a total. */
interface Counting {
  recordCache: RecordCache;
  times: number;
}

function counting(recordCache: RecordCache): Counting {
  const counted: Counting = {
    times: 0,
    recordCache: {
      ...recordCache,
      total: (target, narrowing) => {
        const { needsSnapshot, get } = recordCache.total(target, narrowing);
        const counting = (countNow: () => Promise<CountedRecords>) => () => {
          counted.times++;
          return countNow();
        };
        return { needsSnapshot, get: (list, countNow) => get(list, counting(countNow)) };
      },
    },
  };
  return counted;
}

async function total({ recordCache }: Counting, filter?: string): Promise<number> {
  const deps = { ...app.deps, recordCache };
  return (await listRecords(deps, await app.target('posts'), { access, page, filter })).total_items;
}

/** True when a total comes out of the cache by and by: other tests write to the same cluster, and each write ends it. */
async function comesFromCache(totals: Counting, filter?: string): Promise<boolean> {
  for (let attempt = 0; attempt < 500; attempt++) {
    const before = totals.times;
    await total(totals, filter);
    if (totals.times === before) return true;
  }
  return false;
}

/** Runs work as a process that no other knows of, in a transaction of its own. */
async function elsewhere<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
  const { workspace, schema } = await app.definition();
  return await app.deps.databases.app(workspace.database, schema).transaction(async (sql) => {
    await sql.unsafe(`set local search_path to "${schema}"`);
    return await work(sql);
  });
}

describe('a total that is cached by snapshot', () => {
  it('comes out of the cache, and follows whatever another process commits at once', async () => {
    const totals = counting(snapshotCache());
    for (const title of ['a', 'b']) await elsewhere((sql) => insert(sql, title));
    expect(await total(totals)).toBe(2);
    expect(await comesFromCache(totals)).toBe(true);
    for (let n = 3; n < 40; n++) {
      await elsewhere((sql) => insert(sql, 'c'));
      expect(await total(totals)).toBe(n);
    }
    await elsewhere((sql) => sql.unsafe(`delete from posts where title = 'c'`));
    expect(await total(totals)).toBe(2);
  });

  it('does not outlive the commit of a write that was under way when it was counted', async () => {
    const totals = counting(snapshotCache());
    const before = await total(totals);
    await elsewhere(async (sql) => {
      await insert(sql, 'late');
      for (let n = 0; n < 5; n++) expect(await total(totals)).toBe(before);
      expect(await comesFromCache(totals)).toBe(true);
    });
    expect(await total(totals)).toBe(before + 1);
  });

  it('knows the write under way from its rollback', async () => {
    const totals = counting(snapshotCache());
    const before = await total(totals);
    const undone = elsewhere(async (sql) => {
      await insert(sql, 'never');
      expect(await total(totals)).toBe(before);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await total(totals)).toBe(before);
  });

  it('is not cached when it depends on the time', async () => {
    const totals = counting(snapshotCache());
    for (let n = 1; n <= 20; n++) {
      await total(totals, 'created_at != @now');
      expect(totals.times).toBe(n);
    }
  });
});

describe('a total that looks at users', () => {
  it('follows every change of a user, also in the process that tracks all writes of records', async () => {
    const totals = counting(soleWriter(app.deps).recordCache);
    const { workspace } = await app.definition();
    const users = app.deps.databases.workspace(workspace.database);
    const made = await users.run((sql) =>
      sql<{ id: string }[]>`
        insert into workspace.users (id, email, verified, created_at, updated_at)
        select gen_random_uuid(), email, email ~ '^a', now(), now()
        from unnest(array['ann@example.com', 'ben@example.com']) as email returning id`
    );
    for (const { id } of made) await app.create('posts', { title: 'owned', owner: id });
    const verified = 'owner.verified = true';
    for (let round = 0; round < 10; round++) {
      expect(await total(totals, verified)).toBe(1);
      await users.run((sql) => sql`update workspace.users set verified = true`);
      expect(await total(totals, verified)).toBe(2);
      await users.run((sql) => sql`update workspace.users set verified = email ~ '^a'`);
    }
    expect(await comesFromCache(totals, verified)).toBe(true);
  });
});
