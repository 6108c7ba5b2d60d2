// Rows of one statement as lists of values, for statements that every request for a record runs.
import type postgres from 'postgres';

/** Rows, column by column. */
export type Rows = unknown[][];

/** The parameters of a statement. */
export type Params = NonNullable<Parameters<postgres.ISql['unsafe']>[1]>;

/** Runs a statement; with `prepare`, it is prepared once on each connection. */
export async function selectRows(
  sql: postgres.ISql,
  { text, prepare = false }: { text: string; prepare?: boolean },
  params: Params,
): Promise<Rows> {
  return await sql.unsafe<Record<string, unknown>[]>(text, params, { prepare }).values();
}
