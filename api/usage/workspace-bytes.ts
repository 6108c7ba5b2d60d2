// The bytes that a workspace takes up: its database, and the files of all its apps.
import type { Databases } from '../../storage/connections/databases.ts';
import { appRunner, databaseBytes, readFileBytes } from '../../storage/control/usage.ts';
import { listSchemas } from '../../storage/workspace/apps.ts';

/**
 * Counts the bytes. The apps are read one after another on the provisioner's connection, so no app needs connections of its own;
 * with a hundred apps it takes some tenths of a second. Throws `StorageError`.
 */
export async function countWorkspaceBytes(databases: Databases, database: string): Promise<number> {
  const pool = databases.workspace(database);
  const provisioner = databases.provisioner(database);
  let bytes = await pool.run(databaseBytes);
  for (const schema of await pool.run(listSchemas)) {
    // None of an app that was deleted meanwhile.
    bytes += await appRunner(provisioner, schema)((sql) => readFileBytes(sql, schema)) ?? 0;
  }
  return bytes;
}
