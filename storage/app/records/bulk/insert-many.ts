// Inserting many records of a collection by one statement.
import type postgres from 'postgres';
import type { Sql } from '../../../connections/pool.ts';
import { selectRows } from '../../../sql/rows.ts';
import { kindOf } from '../../fields/kinds.ts';
import type { StoredValue } from '../../fields/kind.ts';
import { usersId, usersView } from '../../../workspace/identities.ts';
import type { RecordPlan } from '../plan.ts';
import { qualified } from '../../tables.ts';
import { translate } from '../../../errors.ts';

/** A new record with times of its own: every field's value in the plan's order, null where it is empty. */
export interface BulkRecord {
  id: string;
  /** RFC 3339, as are all times. */
  createdAt: string;
  updatedAt: string;
  values: readonly (StoredValue | null)[];
}

/** The time that a transaction of many statements may take, in milliseconds. */
export interface BulkLimits {
  transactionMs: number;
  /** Between two statements, while more is on its way from a client. */
  idleMs: number;
  statementMs: number;
}

/** Gives a transaction other limits than usual, which guard against our own bugs, until it ends. */
export async function setBulkLimits(sql: Sql, limits: BulkLimits): Promise<void> {
  const { transactionMs, idleMs, statementMs } = limits;
  await sql.unsafe(
    // PostgreSQL starts the timer of a transaction anew only where there is none.
    `set local transaction_timeout = 0; set local transaction_timeout = ${transactionMs}; set local statement_timeout = ${statementMs}; ` +
      `set local idle_in_transaction_session_timeout = ${idleMs}`,
  );
}

/**
 * Stores records, and returns the ids of those that were stored: the id or a unique value of the others is taken, perhaps by an
 * earlier one of them. Throws `StorageError` `missing_reference` or `invalid` when one of them is refused, and has then stored
 * none. To be called in a transaction, which goes on after an error.
 */
export async function insertMany(
  sql: Sql,
  plan: RecordPlan,
  records: readonly BulkRecord[],
): Promise<Set<string>> {
  return await store(sql, plan, { records, onConflict: ' on conflict do nothing' });
}

/** Stores one record. Throws `StorageError` as an insert does, and the transaction goes on. */
export async function insertOne(sql: Sql, plan: RecordPlan, record: BulkRecord): Promise<void> {
  await store(sql, plan, { records: [record], onConflict: '' });
}

async function store(
  sql: Sql,
  plan: RecordPlan,
  { records, onConflict }: { records: readonly BulkRecord[]; onConflict: string },
): Promise<Set<string>> {
  const casts = [
    '::uuid',
    '::text::timestamptz',
    '::text::timestamptz',
    ...plan.fields.map(({ field }) => kindOf(field).cast),
  ];
  const names = casts.map((_, index) => `c${index}`);
  const columns: (StoredValue | null)[][] = casts.map(() => []);
  for (const { id, createdAt, updatedAt, values } of records) {
    for (const [index, column] of columns.entries()) {
      column.push(
        index === 0 ? id : index === 1 ? createdAt : index === 2 ? updatedAt : values[index - 3] ?? null,
      );
    }
  }
  const text = `insert into ${plan.table} (${plan.written}) ` +
    `select ${casts.map((cast, index) => `c${index}${cast}`).join()} ` +
    `from unnest(${
      names.map((_, index) => `$${index + 1}::text::text[]`).join()
    }) as given(${names.join()})` +
    `${onConflict} returning "id"`;
  const rows = await withSavepoint(sql, (sql) => selectRows(sql, { text }, columns.map(arrayText)));
  return new Set(rows.map(([id]) => String(id)));
}

/** An array of texts and nulls in PostgreSQL's form. */
function arrayText(items: readonly (StoredValue | null)[]): string {
  const texts = items.map((item) =>
    item === null ? 'NULL' : `"${String(item).replaceAll(/["\\]/g, '\\$&')}"`
  );
  return `{${texts.join()}}`;
}

/** Runs statements that may fail within a transaction. Throws `StorageError`; then they have done nothing. */
async function withSavepoint<Result>(sql: Sql, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  if (!isTransaction(sql)) throw new TypeError('many records are inserted in a transaction');
  try {
    const { result } = await sql.savepoint(async (sql) => ({ result: await work(sql) }));
    return result;
  } catch (error) {
    throw translate(error);
  }
}

function isTransaction(sql: Sql): sql is postgres.TransactionSql {
  return 'savepoint' in sql;
}

/** Those of some ids that no row of a collection, or of the files or users of the app, has. */
export async function missingIds(
  sql: Sql,
  { schema, target, ids }: { schema: string; target: string; ids: readonly string[] },
): Promise<Set<string>> {
  const table = qualified(target === usersId ? usersView : { schema, collection: target });
  const text = 'select distinct given.id from unnest($1::text::text[]) as given(id) ' +
    `where not exists (select from ${table} as row where row."id" = given.id::uuid)`;
  const rows = await selectRows(sql, { text }, [arrayText(ids)]);
  return new Set(rows.map(([id]) => String(id)));
}
