// Checks that the control database was made with the given master key.
import type { Sql } from '../connections/pool.ts';
import type { Secrets } from '../secrets.ts';
import { StartRefused } from './start-refused.ts';

/** Stores the key's check value at the first start. Throws `StartRefused` when a later start has another key. */
export async function checkMasterKey(sql: Sql, secrets: Secrets): Promise<void> {
  const [row] = await sql<{ key_check: Buffer }[]>`
    update control.server set key_check = coalesce(key_check, ${secrets.keyCheck()}) returning key_check`;
  if (row !== undefined && secrets.matches(row.key_check)) return;
  throw new StartRefused(
    'the master key is not the one that this database was made with; restore <data_dir>/master.key or secrets.master_key',
  );
}
