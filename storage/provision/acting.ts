// Part of a provisioner's transaction with the rights of one tenant role and no others.
import type { Sql } from '../connections/pool.ts';
import { quoteIdentifier } from '../sql/quote.ts';

/**
 * Runs work as a role that the provisioner has made. What throws must end the transaction, which the role would otherwise
 * outlive.
 */
export async function actingAs<Result>(sql: Sql, role: string, work: () => Promise<Result>): Promise<Result> {
  await sql.unsafe(`set local role ${quoteIdentifier(role)}`);
  const result = await work();
  await sql`set local role none`;
  return result;
}

/** Holds a provisioner's transaction to the time that a tenant's would have. */
export async function limitTime(sql: Sql): Promise<void> {
  await sql.unsafe(`set local statement_timeout = '5s'; set local lock_timeout = '2s'`);
}
