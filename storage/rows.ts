// Rows of one statement, as lists of values: what every request for a record asks for.
import type postgres from 'postgres';
import type { Statement } from './statements.ts';

/** Rows, column by column. */
export type Rows = unknown[][];

/** What a statement is given. */
export type Params = NonNullable<Parameters<postgres.ISql['unsafe']>[1]>;

/** Runs a statement. */
export async function rowsOf(
  sql: postgres.ISql,
  { text, prepare }: Statement,
  params: Params,
): Promise<Rows> {
  return await sql.unsafe<Record<string, unknown>[]>(text, params, { prepare }).values();
}

/** Runs a statement and hands each row on as it comes. */
export async function eachRow(
  sql: postgres.ISql,
  { text, prepare }: Statement,
  { params, onRow }: { params: Params; onRow: (row: unknown[]) => void },
): Promise<void> {
  await sql.unsafe<Record<string, unknown>[]>(text, params, { prepare }).values().forEach(onRow);
}
