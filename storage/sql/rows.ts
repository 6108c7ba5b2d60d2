// Rows of one statement, as lists of values: what every request for a record asks for.
import type postgres from 'postgres';

/** Rows, column by column. */
export type Rows = unknown[][];

/** What a statement is given. */
export type Params = NonNullable<Parameters<postgres.ISql['unsafe']>[1]>;

/** Runs a statement; with `prepare` it is prepared once a connection. */
export async function selectRows(
  sql: postgres.ISql,
  { text, prepare = false }: { text: string; prepare?: boolean },
  params: Params,
): Promise<Rows> {
  return await sql.unsafe<Record<string, unknown>[]>(text, params, { prepare }).values();
}
