// Deleting a record that others point to: those that go with it, and those that are left without a value.
import { type AppDefinition, type CollectionDefinition, filesId } from '../../../storage/definition.ts';
import { usersId } from '../../../storage/workspace/identities.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { planOf, type StoredRecord } from '../../../storage/app/records/plan.ts';
import { type Referrer, referrersOf } from '../../../storage/app/records/referrers.ts';
import {
  type Locked,
  lockRecord,
  lockReferrers,
  selectRecords,
} from '../../../storage/app/records/related-records.ts';
import type { Restriction } from '../../../storage/app/records/restriction.ts';
import { fail } from '../../errors.ts';
import type { RecordTarget } from '../collection.ts';
import type { RecordStatements } from '../write-context.ts';

/** What a deletion changed. */
export interface Removal {
  /** As they were; each collection's together, the record that was asked for among the first. */
  deleted: StoredRecord[];
  /** Those that lost what they pointed to. */
  updated: Emptied[];
}

/** A record whose relation was emptied. */
export interface Emptied {
  /** As it is now. */
  record: StoredRecord;
  /** As it was. */
  previous: StoredRecord;
}

/** What is to be deleted, for whom, and when. */
export interface RemovalRequest {
  id: string;
  rule: Restriction | undefined;
  now: Date;
}

/** The transaction of a deletion. */
export interface RemovalTransaction {
  sql: Sql;
  statements: RecordStatements;
}

const maximalRecords = 10_000;
const maximalBytes = 64 * 1_048_576;

/**
 * Deletes a record with all that goes with it, within a transaction; undefined when there is none or it does not pass.
 * Every record is locked before the next ones are looked for, so nobody can begin to point to one that goes.
 * Throws `409 conflict` when there are too many, `StorageError` `restricted` while a required relation points to one.
 */
export async function removeWithReferrers(
  { sql, statements }: RemovalTransaction,
  { app, collection }: RecordTarget,
  { id, rule, now }: RemovalRequest,
): Promise<Removal | undefined> {
  const root = await lockRecord(sql, planOf(app.schema, collection), id, rule);
  if (root === undefined) return undefined;
  const sweep = new Sweep({ sql, statements }, app, 1);
  sweep.doom(collection, [root]);
  await sweep.follow();
  return await sweep.finish(now.toISOString());
}

/**
 * Deletes the profiles of a user who is about to be deleted, and deletes or empties what points to it or them, within a
 * transaction and with the app's rights. Throws `409 conflict` when there are too many. Required relations to the user that
 * are left refuse its deletion.
 */
export async function removeWithUser(
  { sql, statements }: RemovalTransaction,
  app: AppDefinition,
  { id, now }: Pick<RemovalRequest, 'id' | 'now'>,
): Promise<Removal> {
  const sweep = new Sweep({ sql, statements }, app, 0);
  for (const collection of app.collections.values()) {
    const profile = collection.kind === 'auth'
      ? await lockRecord(sql, planOf(app.schema, collection), id)
      : undefined;
    if (profile !== undefined) sweep.doom(collection, [profile]);
  }
  await sweep.leave(usersId, [id]);
  await sweep.follow();
  return await sweep.finish(now.toISOString());
}

/** Empties what points to a file that is about to be deleted, likewise. */
export async function leaveFile(
  { sql, statements }: RemovalTransaction,
  app: AppDefinition,
  { id, now }: Pick<RemovalRequest, 'id' | 'now'>,
): Promise<Removal> {
  const sweep = new Sweep({ sql, statements }, app, 0);
  await sweep.leave(filesId, [id]);
  return await sweep.finish(now.toISOString());
}

/** Records of one collection. */
interface Share {
  collection: CollectionDefinition;
  /** Ids of records that go. */
  doomed: Set<string>;
  /** Those of them whose referrers have not been looked for. */
  fresh: string[];
  /** Ids of records that point to one that goes, by the field that does. */
  emptied: Map<string, Set<string>>;
}

class Sweep {
  readonly #sql: Sql;
  readonly #statements: RecordStatements;
  readonly #app: AppDefinition;
  readonly #shares = new Map<string, Share>();
  /** Besides the record itself. */
  #records: number;
  #bytes = 0;

  /** `roots`: how many of the records that will go depend on no other. */
  constructor({ sql, statements }: RemovalTransaction, app: AppDefinition, roots: 0 | 1) {
    this.#sql = sql;
    this.#statements = statements;
    this.#app = app;
    this.#records = -roots;
  }

  /** Notes locked records that go. */
  doom(collection: CollectionDefinition, found: readonly Locked[]): void {
    const share = this.#share(collection);
    for (const record of found) {
      if (share.doomed.has(record.id)) continue;
      this.#weigh(record);
      share.doomed.add(record.id);
      share.fresh.push(record.id);
    }
  }

  /** Finds and locks everything that points to what goes, until nothing new goes. */
  async follow(): Promise<void> {
    for (let share = this.#unfollowed(); share !== undefined; share = this.#unfollowed()) {
      const ids = share.fresh;
      share.fresh = [];
      await this.leave(share.collection.id, ids);
    }
  }

  /** Finds and locks what points to records that go. */
  async leave(target: string, ids: readonly string[]): Promise<void> {
    for (const referrer of referrersOf(this.#app, target)) await this.#reach(referrer, ids);
  }

  /** Writes it all. */
  async finish(now: string): Promise<Removal> {
    const updated: Emptied[] = [];
    for (const share of this.#shares.values()) updated.push(...await this.#empty(share, now));
    const parts = [...this.#shares.values()]
      .filter(({ doomed }) => doomed.size > 0)
      .map(({ collection, doomed }) => ({ plan: this.#planOf(collection), ids: [...doomed] }));
    const deleted: StoredRecord[] = [];
    for (const { plan, ids } of parts) deleted.push(...await selectRecords(this.#sql, plan, ids));
    if (parts.length > 0) await this.#statements.deleteTogether(this.#sql, parts);
    return { deleted, updated };
  }

  /** One that points to what goes by several fields was one record, and is one afterwards. */
  async #empty({ collection, doomed, emptied }: Share, now: string): Promise<Emptied[]> {
    const plan = this.#planOf(collection);
    const all = new Set([...emptied.values()].flatMap((found) => [...found.difference(doomed)]));
    if (all.size === 0) return [];
    const before = await selectRecords(this.#sql, plan, [...all]);
    const after = new Map<string, StoredRecord>();
    for (const [field, found] of emptied) {
      const ids = [...found.difference(doomed)];
      if (ids.length === 0) continue;
      const records = await this.#statements.emptyRelation(this.#sql, plan, { field, ids, now });
      for (const record of records) after.set(record.id, record);
    }
    return before.flatMap((previous) => {
      const record = after.get(previous.id);
      return record === undefined ? [] : [{ record, previous }];
    });
  }

  async #reach({ collection, field, then }: Referrer, ids: readonly string[]): Promise<void> {
    // PostgreSQL refuses those that are left in the end: some may go by another way.
    if (then === 'refuse') return;
    // Those that are known already may be found again, the record itself among them: one more than there may be besides it.
    // What is not found PostgreSQL would delete or empty, and nobody would be told.
    const limit = maximalRecords + 2;
    const found = await lockReferrers(this.#sql, this.#planOf(collection), { field, ids, limit });
    if (then === 'delete') return this.doom(collection, found);
    const { doomed, emptied } = this.#share(collection);
    const noted = emptied.get(field) ?? new Set();
    emptied.set(field, noted);
    for (const record of found) {
      if (doomed.has(record.id)) continue;
      this.#weigh(record);
      noted.add(record.id);
    }
  }

  #weigh({ size }: Locked): void {
    this.#records++;
    this.#bytes += size;
    if (this.#records > maximalRecords) {
      fail('conflict', `more than ${maximalRecords} records depend on this one; delete some of them first`);
    }
    if (this.#bytes > maximalBytes) {
      fail(
        'conflict',
        'the records that depend on this one are too large to go at once; delete some of them first',
      );
    }
  }

  #unfollowed(): Share | undefined {
    return this.#shares.values().find(({ fresh }) => fresh.length > 0);
  }

  #share(collection: CollectionDefinition): Share {
    const known = this.#shares.get(collection.id);
    if (known !== undefined) return known;
    const share = { collection, doomed: new Set<string>(), fresh: [], emptied: new Map() };
    this.#shares.set(collection.id, share);
    return share;
  }

  #planOf(collection: CollectionDefinition) {
    return planOf(this.#app.schema, collection);
  }
}
