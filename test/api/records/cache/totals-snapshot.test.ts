// Totals of processes that are not alone: remembered as long as the database is seen as it was, whoever writes to it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deps } from '../../../../api/deps.ts';
import { listRecords } from '../../../../api/records/list.ts';
import { SnapshotTotals, type Totals } from '../../../../api/records/cache/totals.ts';
import { unboundedAccess } from '../../../../api/rules/access.ts';
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

/** Counts how often the database is asked. */
class Asked implements Totals {
  readonly #totals: Totals;
  times = 0;

  constructor(totals: Totals) {
    this.#totals = totals;
  }

  needsSnapshot: Totals['needsSnapshot'] = (basis) => this.#totals.needsSnapshot(basis);
  of: Totals['of'] = (question, ask) =>
    this.#totals.of(question, () => {
      this.times++;
      return ask();
    });
}

async function total(totals: Totals, filter?: string): Promise<number> {
  const deps: BareApp['deps'] & Pick<Deps, 'totals'> = { ...app.deps, totals };
  return (await listRecords(deps, await app.target('posts'), { access, page, filter })).total_items;
}

/** Whether a total comes out of memory by and by: other tests write to the same cluster, and each write ends it. */
async function comesFromMemory(totals: Asked, filter?: string): Promise<boolean> {
  for (let attempt = 0; attempt < 500; attempt++) {
    const before = totals.times;
    await total(totals, filter);
    if (totals.times === before) return true;
  }
  return false;
}

/** Runs work as a process that nobody else has heard of, in a transaction of its own. */
async function elsewhere<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
  const { workspace, schema } = await app.definition();
  return await app.deps.databases.app(workspace.database, schema).transaction(async (sql) => {
    await sql.unsafe(`set local search_path to "${schema}"`);
    return await work(sql);
  });
}

describe('a total that is remembered by snapshot', () => {
  it('comes out of memory, and follows whatever another process commits at once', async () => {
    const totals = new Asked(new SnapshotTotals());
    for (const title of ['a', 'b']) await elsewhere((sql) => insert(sql, title));
    expect(await total(totals)).toBe(2);
    expect(await comesFromMemory(totals)).toBe(true);
    for (let n = 3; n < 40; n++) {
      await elsewhere((sql) => insert(sql, 'c'));
      expect(await total(totals)).toBe(n);
    }
    await elsewhere((sql) => sql.unsafe(`delete from posts where title = 'c'`));
    expect(await total(totals)).toBe(2);
  });

  it('does not outlive the commit of a write that was under way when it was counted', async () => {
    const totals = new Asked(new SnapshotTotals());
    const before = await total(totals);
    await elsewhere(async (sql) => {
      await insert(sql, 'late');
      for (let n = 0; n < 5; n++) expect(await total(totals)).toBe(before);
      expect(await comesFromMemory(totals)).toBe(true);
    });
    expect(await total(totals)).toBe(before + 1);
  });

  it('knows the write under way from its rollback', async () => {
    const totals = new Asked(new SnapshotTotals());
    const before = await total(totals);
    const undone = elsewhere(async (sql) => {
      await insert(sql, 'never');
      expect(await total(totals)).toBe(before);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await total(totals)).toBe(before);
  });

  it('is not remembered when it depends on the time', async () => {
    const totals = new Asked(new SnapshotTotals());
    for (let n = 1; n <= 20; n++) {
      await total(totals, 'created_at != @now');
      expect(totals.times).toBe(n);
    }
  });
});

describe('a total that looks at users', () => {
  it('follows every change of a user, also in the process that hears of all writes to records', async () => {
    const totals = new Asked(soleWriter(app.deps).totals);
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
    expect(await comesFromMemory(totals, verified)).toBe(true);
  });
});
