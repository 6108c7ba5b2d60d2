// The row of a new end-user, whatever way the user came.
import type { Sql } from '../../../storage/connections/pool.ts';
import { insertUser, type UserRow } from '../../../storage/workspace/user-accounts.ts';
import { auditWorkspace } from '../../audit/write.ts';
import type { RequestOrigin } from '../../contract/route.ts';
import type { Deps } from '../../deps.ts';
import { requireUserQuota } from '../../usage/user-quota.ts';

/** A user who is to be added. */
export interface NewAccount extends Pick<UserRow, 'id' | 'email' | 'password_hash' | 'verified'> {
  /** How many users the workspace may have. */
  mostUsers: number | undefined;
  /** The way of the user, for the audit log; empty for a registration with a password. */
  how: { by?: 'otp' | 'oauth' | 'invite'; provider?: string };
  origin: RequestOrigin;
  now: Date;
}

/** Adds a user within a transaction. Throws `StorageError` for a taken email, `413 quota_exceeded`. */
export async function addUser(
  sql: Sql,
  deps: Pick<Deps, 'newId' | 'now'>,
  { mostUsers, how, origin, ...user }: NewAccount,
): Promise<UserRow> {
  const added = await insertUser(sql, user);
  await requireUserQuota(sql, mostUsers);
  const { id, email } = added;
  const details = { id, ...how };
  await auditWorkspace(sql, deps, { actor: email, action: 'user_register', target: email, details, origin });
  return added;
}
