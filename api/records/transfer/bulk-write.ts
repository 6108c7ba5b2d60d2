// The one way to write many records at once: what has to happen around an import, as `write.ts` does it around other writes.
import type { Sql } from '../../../storage/connections/pool.ts';
import type { CollectionDefinition } from '../../../storage/definition.ts';
import { mayBeDone } from '../../../storage/errors.ts';
import {
  type BulkLimits,
  insertMany,
  insertOne,
  setBulkLimits,
} from '../../../storage/app/records/bulk/insert-many.ts';
import { retryDeadlocks } from '../../process/deadlock.ts';
import type { BulkPublisher } from '../../realtime/ports.ts';
import { exactTopic } from '../../realtime/topic.ts';
import type { Addition, BulkQuotas, SettleWrite } from '../../usage/quotas.ts';
import type { RecordTarget, WriteDeps } from '../collection.ts';
import type { IntendedChange } from '../ports.ts';

/** The parts that bulk writes need. */
export type BulkDeps = WriteDeps & { realtime: BulkPublisher; quotas: BulkQuotas };

/** The statements of a bulk write. */
export interface BulkStatements {
  insertMany: typeof insertMany;
  insertOne: typeof insertOne;
}

const bulkStatements: BulkStatements = { insertMany, insertOne };

/** Does a step of a bulk write, in a transaction: its records count against the quotas of the app. */
export type BulkStep = <Result>(
  addition: Addition,
  work: (sql: Sql, statements: BulkStatements) => Promise<Result>,
) => Promise<Result>;

/** A bulk write: it creates many records of a collection, of which no events are published. */
export interface BulkWrite<Result> {
  /** True for one transaction, false for one a step. */
  isAtomic: boolean;
  limits: BulkLimits;
  /** False of a result for which the one transaction is rolled back. */
  isKept(result: Result): boolean;
}

/**
 * Creates many records, in steps. Subscribers of the collection have to read it again. Throws what the work throws, and the errors
 * of `commitWrite` about quotas.
 */
export function commitBulk<Result>(
  deps: BulkDeps,
  target: RecordTarget,
  write: BulkWrite<Result>,
  work: (step: BulkStep) => Promise<Result>,
): Promise<Result> {
  return write.isAtomic ? commitAtOnce(deps, target, write, work) : commitInSteps(deps, target, write, work);
}

async function commitAtOnce<Result>(
  deps: BulkDeps,
  { app, collection }: RecordTarget,
  { limits, isKept }: BulkWrite<Result>,
  work: (step: BulkStep) => Promise<Result>,
): Promise<Result> {
  const claims: SettleWrite[] = [];
  let undone: { result: Result } | undefined;
  const transaction = async (sql: Sql) => {
    await setBulkLimits(sql, limits);
    const result = await work(async (addition, work) => {
      claims.push(await deps.quotas.claim(app, addition));
      return await work(sql, bulkStatements);
    });
    if (isKept(result)) return result;
    undone = { result };
    throw new Error('rolled back on purpose');
  };
  try {
    const connection = deps.databases.app(app.workspace.database, app.schema);
    const result = await deps.recordCache.track(
      app,
      createsIn(collection),
      () => connection.transaction(transaction, limits.idleMs),
    );
    for (const settle of claims) settle();
    deps.realtime.reset(exactTopic(app, collection));
    return result;
  } catch (error) {
    for (const settle of claims) settle(error);
    if (mayBeDone(error)) deps.realtime.reset(exactTopic(app, collection));
    if (undone !== undefined) return undone.result;
    throw error;
  }
}

/** How often subscribers have to read the collection again while steps are committed, in milliseconds. */
const resetMs = 5_000;

async function commitInSteps<Result>(
  deps: BulkDeps,
  { app, collection }: RecordTarget,
  { limits }: BulkWrite<Result>,
  work: (step: BulkStep) => Promise<Result>,
): Promise<Result> {
  const connection = deps.databases.app(app.workspace.database, app.schema);
  let resetAt = performance.now();
  const reset = () => {
    resetAt = performance.now();
    deps.realtime.reset(exactTopic(app, collection));
  };
  try {
    return await work(async (addition, work) => {
      const transaction = (sql: Sql) => setBulkLimits(sql, limits).then(() => work(sql, bulkStatements));
      const commit = () => retryDeadlocks(() => connection.transaction(transaction));
      const write = () => deps.quotas.write(app, addition, commit);
      const result = await deps.recordCache.track(app, createsIn(collection), write);
      if (performance.now() - resetAt > resetMs) reset();
      return result;
    });
  } finally {
    reset();
  }
}

function createsIn(collection: CollectionDefinition): IntendedChange[] {
  return [{ action: 'create', collection: collection.id, id: undefined }];
}
