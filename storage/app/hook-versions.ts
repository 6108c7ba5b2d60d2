// Rows of an app's `_hook_versions`: of each hook file, the version that loaded last.
import type { Sql } from '../connections/pool.ts';
import { quoteIdentifier } from '../sql/quote.ts';

/** A version without its source. */
export interface HookVersion {
  filename: string;
  sha256: string;
  /** JSON of what it registered. */
  registrations: string;
  loaded_at: Date;
  /** False when its source is not stored: there is no way back to it. */
  has_source: boolean;
}

function versionsTable(schema: string): string {
  return `${quoteIdentifier(schema)}._hook_versions`;
}

/** The versions of an app's files, by name. */
export async function listHookVersions(sql: Sql, schema: string): Promise<HookVersion[]> {
  return [
    ...await sql.unsafe<HookVersion[]>(
      `select filename, sha256, registrations, loaded_at, source <> '' as has_source from ${
        versionsTable(schema)
      }
       order by filename collate "C"`,
    ),
  ];
}

/** The sources of some of them. */
export async function readHookSources(
  sql: Sql,
  schema: string,
  filenames: readonly string[],
): Promise<{ filename: string; source: Buffer }[]> {
  return [
    ...await sql.unsafe<{ filename: string; source: Buffer }[]>(
      `select filename, source from ${versionsTable(schema)}
       where filename = any($1::text[])`,
      [[...filenames]],
    ),
  ];
}

/** Lets nobody else write versions of the app until the transaction ends. */
export async function lockHookVersions(sql: Sql, schema: string): Promise<void> {
  await sql.unsafe(`lock table ${versionsTable(schema)} in share row exclusive mode`);
}

/**
 * Stores a version, or of the one that is stored already what it registers by now. Where all versions of the app would have
 * more than `maxBytes`, it is stored without its source.
 */
export async function putHookVersion(
  sql: Sql,
  schema: string,
  { filename, source, sha256, registrations, loaded_at, maxBytes }: Omit<HookVersion, 'has_source'> & {
    source: Buffer;
    maxBytes: number;
  },
): Promise<void> {
  const table = versionsTable(schema);
  await sql.unsafe(
    `insert into ${table} as stored (filename, source, sha256, registrations, loaded_at) select $1,
       case when (select coalesce(sum(octet_length(source)), 0) from ${table} where filename <> $1) + octet_length($2::bytea) <= $6
         then $2::bytea else '' end,
       $3, $4, $5
     on conflict (filename) do update set source = excluded.source, sha256 = excluded.sha256,
       registrations = excluded.registrations,
       loaded_at = case when stored.sha256 = excluded.sha256 then stored.loaded_at else excluded.loaded_at end`,
    [filename, source, sha256, registrations, loaded_at, maxBytes],
  );
}

/** Deletes the version of a file. */
export async function deleteHookVersion(sql: Sql, schema: string, filename: string): Promise<void> {
  await sql.unsafe(`delete from ${versionsTable(schema)} where filename = $1`, [filename]);
}
