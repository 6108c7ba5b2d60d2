// Rows of an app's `_hook_environment`: names and sealed values that its hooks may read.
import type { Sql } from '../connections/pool.ts';
import { quoteIdentifier } from '../sql/quote.ts';

/** A variable as it is stored. */
export interface HookVariable {
  name: string;
  sealed: Buffer;
  updated_at: Date;
}

function environmentTable(schema: string): string {
  return `${quoteIdentifier(schema)}._hook_environment`;
}

/** All of an app's variables, by name. */
export async function listHookVariables(sql: Sql, schema: string): Promise<HookVariable[]> {
  return [
    ...await sql.unsafe<HookVariable[]>(
      `select name, sealed, updated_at from ${environmentTable(schema)} order by name collate "C"`,
    ),
  ];
}

/** The time at which a variable was last set, or undefined. */
export async function hookVariableSetAt(sql: Sql, schema: string, name: string): Promise<Date | undefined> {
  const [row] = await sql.unsafe<Pick<HookVariable, 'updated_at'>[]>(
    `select updated_at from ${environmentTable(schema)} where name = $1`,
    [name],
  );
  return row?.updated_at;
}

/** Sets a variable; false when the app has `max` others already. */
export async function putHookVariable(
  sql: Sql,
  schema: string,
  { name, sealed, updated_at, max }: HookVariable & { max: number },
): Promise<boolean> {
  const table = environmentTable(schema);
  const written = await sql.unsafe(
    `insert into ${table} (name, sealed, updated_at) select $1, $2, $3
     where (select count(*) from ${table} where name <> $1) < $4
     on conflict (name) do update set sealed = excluded.sealed, updated_at = excluded.updated_at`,
    [name, sealed, updated_at, max],
  );
  return written.count === 1;
}

/** Removes a variable; false when there is none. */
export async function deleteHookVariable(sql: Sql, schema: string, name: string): Promise<boolean> {
  const deleted = await sql.unsafe(`delete from ${environmentTable(schema)} where name = $1`, [name]);
  return deleted.count === 1;
}
