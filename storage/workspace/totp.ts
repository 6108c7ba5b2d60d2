// The second factor of end-users: columns of workspace.users, and rows of workspace.recovery_codes.
import type { Sql } from '../connections/pool.ts';

/** The state of a user's second factor. A secret that is not enabled waits for its first code. */
export interface TotpRow {
  totp_sealed: Buffer | null;
  totp_enabled: boolean;
}

/** The state, or undefined when there is no such user. */
export async function findTotp(sql: Sql, userId: string): Promise<TotpRow | undefined> {
  const [row] = await sql<TotpRow[]>`
    select totp_sealed, totp_enabled from workspace.users where id = ${userId}`;
  return row;
}

/** The same, locked until the transaction ends. */
export async function lockTotp(sql: Sql, userId: string): Promise<TotpRow | undefined> {
  const [row] = await sql<TotpRow[]>`
    select totp_sealed, totp_enabled from workspace.users where id = ${userId} for update`;
  return row;
}

/** Stores a pending secret, in place of an earlier one; false when the factor is enabled. */
export async function setPendingTotp(sql: Sql, userId: string, sealed: Buffer): Promise<boolean> {
  const [row] = await sql`
    update workspace.users set totp_sealed = ${sealed} where id = ${userId} and not totp_enabled returning 1`;
  return row !== undefined;
}

/** Enables the pending secret and uses its first code up; false when it was replaced or confirmed meanwhile. */
export async function enableTotp(
  sql: Sql,
  userId: string,
  { sealed, step, now }: { sealed: Buffer; step: number; now: Date },
): Promise<boolean> {
  const [row] = await sql`
    update workspace.users set totp_enabled = true, totp_last_step = ${step}, updated_at = ${now}
    where id = ${userId} and not totp_enabled and totp_sealed = ${sealed}
    returning 1`;
  return row !== undefined;
}

/**
 * Uses a time step up; false when it, or a later one, was used before. The caller has the factor locked, so the secret
 * that the step was computed with is still the user's.
 */
export async function useTotpStep(sql: Sql, userId: string, step: number): Promise<boolean> {
  const [row] = await sql`
    update workspace.users set totp_last_step = ${step} where id = ${userId} and totp_last_step < ${step}
    returning 1`;
  return row !== undefined;
}

/** Removes the second factor with its recovery codes; false when none was enabled. */
export async function dropTotp(sql: Sql, userId: string, now: Date): Promise<boolean> {
  await dropRecoveryCodes(sql, userId);
  const [row] = await sql`
    update workspace.users set totp_sealed = null, totp_enabled = false, totp_last_step = null, updated_at = ${now}
    where id = ${userId} and totp_enabled
    returning 1`;
  return row !== undefined;
}

/** Replaces all recovery codes of a user. */
export async function replaceRecoveryCodes(
  sql: Sql,
  userId: string,
  hashes: readonly Buffer[],
): Promise<void> {
  await dropRecoveryCodes(sql, userId);
  for (const hash of hashes) {
    await sql`insert into workspace.recovery_codes (user_id, hash) values (${userId}, ${hash})`;
  }
}

/** Uses a recovery code up: of several attempts at once, exactly one gets true. */
export async function useRecoveryCode(sql: Sql, userId: string, hash: Buffer): Promise<boolean> {
  const [row] = await sql`
    delete from workspace.recovery_codes where user_id = ${userId} and hash = ${hash} returning 1`;
  return row !== undefined;
}

/** Removes all recovery codes of a user. */
export async function dropRecoveryCodes(sql: Sql, userId: string): Promise<void> {
  await sql`delete from workspace.recovery_codes where user_id = ${userId}`;
}
