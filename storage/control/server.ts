// The server as a whole: whether the database responds, and whether the first-run setup is complete.
import type { Sql } from '../connections/pool.ts';

/** Resolves when the database responds. */
export async function pingServer(sql: Sql): Promise<void> {
  await sql`select 1`;
}

/** True when the master password has been set. */
export async function readInitialized(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ initialized: boolean }[]>`select initialized from control.server`;
  return row?.initialized === true;
}

/**
 * Marks the first-run setup as complete; false when it was already. In a transaction, simultaneous calls wait for its
 * end.
 */
export async function claimSetup(sql: Sql): Promise<boolean> {
  const [row] = await sql`update control.server set initialized = true where not initialized returning 1`;
  return row !== undefined;
}
