// What `bulkhead doctor` reads of a PostgreSQL server that meets the requirements. Changes nothing.
import type { Connection, Sql } from '../connections/pool.ts';
import type { Secrets } from '../secrets.ts';

/** A server, as it says itself. */
export interface InspectedServer {
  /** As in `18.4`. */
  version: string;
  clock: Date;
  /** Whether the control database was made with the given master key; undefined where it is not made yet. */
  fitsKey: boolean | undefined;
}

/** Asks a server. Throws `StorageError`. */
export async function inspectServer(
  connection: Connection,
  secrets: Secrets | undefined,
): Promise<InspectedServer> {
  return await connection.run(async (sql) => {
    const [row] = await sql<{ version: string; clock: Date; is_made: boolean }[]>`
      select split_part(current_setting('server_version'), ' ', 1) as version, clock_timestamp() as clock,
        to_regclass('control.server') is not null as is_made`;
    const { version = '', clock = new Date(), is_made = false } = row ?? {};
    return { version, clock, fitsKey: is_made ? await compareKey(sql, secrets) : undefined };
  });
}

async function compareKey(sql: Sql, secrets: Secrets | undefined): Promise<boolean | undefined> {
  const [row] = await sql<{ key_check: Buffer | null }[]>`select key_check from control.server`;
  if (row === undefined || row.key_check === null) return undefined;
  return secrets?.matches(row.key_check) === true;
}
