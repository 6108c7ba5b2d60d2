// Part of a provisioner's transaction with the rights of one tenant role, and no others.
import type { Sql } from '../connections/pool.ts';
import { quoteIdentifier } from '../sql/quote.ts';

/** Runs work as a role that the provisioner has made. An error must end the transaction, since the role stays set. */
export async function actingAs<Result>(sql: Sql, role: string, work: () => Promise<Result>): Promise<Result> {
  await sql.unsafe(`set local role ${quoteIdentifier(role)}`);
  const result = await work();
  await sql`set local role none`;
  return result;
}

/** Gives a provisioner's transaction the timeouts of a tenant's. */
export async function limitTime(sql: Sql): Promise<void> {
  await sql.unsafe(`set local statement_timeout = '5s'; set local lock_timeout = '2s'`);
}
