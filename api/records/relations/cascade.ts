// Deleting a record that others point to: some are deleted with it, and others lose the value that pointed to it.
import { type AppDefinition, type CollectionDefinition, filesId } from '../../../storage/definition.ts';
import { usersId } from '../../../storage/workspace/identities.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { planFor, type RecordPlan, type StoredRecord } from '../../../storage/app/records/plan.ts';
import { type Referrer, referrersTo } from '../../../storage/app/records/referrers.ts';
import {
  type LockedRecord,
  lockRecord,
  lockReferrers,
  type ReferringField,
  selectRecords,
} from '../../../storage/app/records/related-records.ts';
import type { Restriction } from '../../../storage/app/records/restriction.ts';
import { fail } from '../../errors.ts';
import type { RecordTarget } from '../collection.ts';
import type { RecordStatements } from '../write-context.ts';

/** The records that a deletion changed. */
export interface Removal {
  /** Deleted records as they were, by collection, that of the record that was asked for first. */
  deleted: StoredRecord[];
  /** Records that lost a value. */
  updated: EmptiedRecord[];
}

/** A record of which relations were emptied. */
export interface EmptiedRecord {
  /** As it is now. */
  record: StoredRecord;
  /** As it was. */
  previous: StoredRecord;
}

/** A record that is to be deleted, under which rule, and when. */
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

const maxRecords = 10_000;
const maxBytes = 64 * 1_048_576;

/**
 * Deletes a record with everything that depends on it, within a transaction; returns undefined when there is none or it does
 * not pass. Every record is locked before its referrers are looked for, so that no new one can come to point to it.
 * Throws `409 conflict` when there are too many, `StorageError` `restricted` while a required relation points to one.
 */
export async function deleteWithReferrers(
  { sql, statements }: RemovalTransaction,
  { app, collection }: RecordTarget,
  { id, rule, now }: RemovalRequest,
): Promise<Removal | undefined> {
  const root = await lockRecord(sql, planFor(app.schema, collection), id, rule);
  if (root === undefined) return undefined;
  const cascade = new Cascade({ sql, statements }, app, 1);
  cascade.addDeleted(collection, [root]);
  await cascade.follow();
  return await cascade.write(now.toISOString());
}

/**
 * Deletes the profiles of a user who is about to be deleted, and deletes or empties what points to the user or to them, within
 * a transaction and with the app's rights. Throws `409 conflict` when there are too many. A required relation to the user
 * that is left makes its deletion fail.
 */
export async function deleteWithUser(
  { sql, statements }: RemovalTransaction,
  app: AppDefinition,
  { id, now }: Pick<RemovalRequest, 'id' | 'now'>,
): Promise<Removal> {
  const cascade = new Cascade({ sql, statements }, app, 0);
  for (const collection of app.collections.values()) {
    const profile = collection.kind === 'auth'
      ? await lockRecord(sql, planFor(app.schema, collection), id)
      : undefined;
    if (profile !== undefined) cascade.addDeleted(collection, [profile]);
  }
  await cascade.lockReferrersOf(usersId, [id]);
  await cascade.follow();
  return await cascade.write(now.toISOString());
}

/** Empties the fields that hold a file which is about to be deleted, likewise. */
export async function emptyFileFields(
  { sql, statements }: RemovalTransaction,
  app: AppDefinition,
  { id, now }: Pick<RemovalRequest, 'id' | 'now'>,
): Promise<Removal> {
  const cascade = new Cascade({ sql, statements }, app, 0);
  await cascade.lockReferrersOf(filesId, [id]);
  return await cascade.write(now.toISOString());
}

/** The records of one collection that a deletion reaches. */
interface CollectionPart {
  collection: CollectionDefinition;
  /** Ids of records that are deleted. */
  deletedIds: Set<string>;
  /** Those of them whose referrers have not been looked for. */
  unfollowed: string[];
  /** By the field, the records that point to a deleted one. */
  emptied: Map<string, EmptiedField>;
}

/** A field that points to records that are deleted. */
interface EmptiedField extends ReferringField {
  /** Ids of the records that have it. */
  ids: Set<string>;
  /** Ids of the records that are deleted. */
  targets: Set<string>;
}

/** One deletion: it finds and locks everything that it reaches, then writes. */
class Cascade {
  readonly #sql: Sql;
  readonly #statements: RecordStatements;
  readonly #app: AppDefinition;
  readonly #parts = new Map<string, CollectionPart>();
  /** Besides the record itself. */
  #records: number;
  #bytes = 0;

  /** `roots`: how many of the records that will be deleted depend on no other. */
  constructor({ sql, statements }: RemovalTransaction, app: AppDefinition, roots: 0 | 1) {
    this.#sql = sql;
    this.#statements = statements;
    this.#app = app;
    this.#records = -roots;
  }

  /** Notes locked records that are to be deleted. */
  addDeleted(collection: CollectionDefinition, found: readonly LockedRecord[]): void {
    const part = this.#partOf(collection);
    for (const record of found) {
      if (part.deletedIds.has(record.id)) continue;
      this.#weigh(record);
      part.deletedIds.add(record.id);
      part.unfollowed.push(record.id);
    }
  }

  /** Finds and locks everything that points to deleted records, until nothing more is deleted. */
  async follow(): Promise<void> {
    for (let part = this.#unfollowed(); part !== undefined; part = this.#unfollowed()) {
      const ids = part.unfollowed;
      part.unfollowed = [];
      await this.lockReferrersOf(part.collection.id, ids);
    }
  }

  /** Finds and locks the records that point to deleted ones. */
  async lockReferrersOf(target: string, ids: readonly string[]): Promise<void> {
    for (const referrer of referrersTo(this.#app, target)) await this.#lock(referrer, ids);
  }

  /** Writes all of it. */
  async write(now: string): Promise<Removal> {
    const updated: EmptiedRecord[] = [];
    for (const part of this.#parts.values()) updated.push(...await this.#empty(part, now));
    const parts = [...this.#parts.values()]
      .filter(({ deletedIds }) => deletedIds.size > 0)
      .map(({ collection, deletedIds }) => ({ plan: this.#planOf(collection), ids: [...deletedIds] }));
    const deleted: StoredRecord[] = [];
    for (const { plan, ids } of parts) deleted.push(...await selectRecords(this.#sql, plan, ids));
    if (parts.length > 0) await this.#statements.deleteTogether(this.#sql, parts);
    return { deleted, updated };
  }

  /** A record of which several fields are emptied is reported once, as it was before the first and is after the last. */
  async #empty(
    { collection, deletedIds, emptied }: CollectionPart,
    now: string,
  ): Promise<EmptiedRecord[]> {
    const plan = this.#planOf(collection);
    const all = new Set([...emptied.values()].flatMap(({ ids }) => [...ids.difference(deletedIds)]));
    if (all.size === 0) return [];
    const before = await selectRecords(this.#sql, plan, [...all]);
    const after = new Map<string, StoredRecord>();
    for (const { field, many, ...found } of emptied.values()) {
      const ids = [...found.ids.difference(deletedIds)];
      if (ids.length === 0) continue;
      const relation = { field, many, ids, targets: [...found.targets], now };
      const records = await this.#statements.emptyRelation(this.#sql, plan, relation);
      for (const record of records) after.set(record.id, record);
    }
    return before.flatMap((previous) => {
      const record = after.get(previous.id);
      return record === undefined ? [] : [{ record, previous }];
    });
  }

  async #lock({ collection, field, many, onDelete: then }: Referrer, ids: readonly string[]): Promise<void> {
    // PostgreSQL refuses those that are left in the end: some may be deleted by another way.
    if (then === 'refuse') return;
    // Those that are known already may be found again, the record itself among them: one more than there may be besides it.
    // PostgreSQL would delete or empty what is not found here, without an event.
    const limit = maxRecords + 2;
    const found = await lockReferrers(this.#sql, this.#planOf(collection), { field, many, ids, limit });
    if (then === 'delete') return this.addDeleted(collection, found);
    const { deletedIds, emptied } = this.#partOf(collection);
    const of: EmptiedField = emptied.get(field) ?? { field, many, ids: new Set(), targets: new Set() };
    emptied.set(field, of);
    for (const id of ids) of.targets.add(id);
    for (const record of found) {
      if (deletedIds.has(record.id)) continue;
      this.#weigh(record);
      of.ids.add(record.id);
    }
  }

  #weigh({ size }: LockedRecord): void {
    this.#records++;
    this.#bytes += size;
    if (this.#records > maxRecords) {
      fail('conflict', `more than ${maxRecords} records depend on this one; delete some of them first`);
    }
    if (this.#bytes > maxBytes) {
      fail(
        'conflict',
        'the records that depend on this one are too large to go at once; delete some of them first',
      );
    }
  }

  #unfollowed(): CollectionPart | undefined {
    return this.#parts.values().find(({ unfollowed }) => unfollowed.length > 0);
  }

  #partOf(collection: CollectionDefinition): CollectionPart {
    const known = this.#parts.get(collection.id);
    if (known !== undefined) return known;
    const part = { collection, deletedIds: new Set<string>(), unfollowed: [], emptied: new Map() };
    this.#parts.set(collection.id, part);
    return part;
  }

  #planOf(collection: CollectionDefinition): RecordPlan {
    return planFor(this.#app.schema, collection);
  }
}
