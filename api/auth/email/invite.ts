// Invitations: an admin has a token mailed, by which its reader becomes an end-user with a password.
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { findToken, redeemToken, replaceToken } from '../../../storage/workspace/one-time-tokens.ts';
import { findUserId } from '../../../storage/workspace/user-accounts.ts';
import { type Caller, readActorName } from '../../audit/actor.ts';
import { auditWorkspace } from '../../audit/write.ts';
import type { RequestOrigin } from '../../contract/route.ts';
import type { Deps } from '../../deps.ts';
import { fail } from '../../errors.ts';
import type { PasswordClient } from '../passwords/passwords.ts';
import { networkOf } from '../../http/client-network.ts';
import { quotaLimit } from '../../usage/quota.ts';
import { showUser, type User } from '../account/user-response.ts';
import { addUser } from '../login/add-user.ts';
import { normalizeName } from '../login/attempt.ts';
import { failDuplicateUser, refuseDuplicateUser } from '../login/register.ts';
import { requireMethod } from '../login/user-attempt.ts';
import { checkNewPassword } from '../passwords/policy.ts';
import { draftToken, hashToken, mailLimits, makeToken, refuseToken } from './one-time.ts';

/**
 * Mails an invitation, in place of an earlier one to the address. Throws `403 forbidden` where passwords are switched off,
 * `409 conflict` for the address of a user, which admins may know, and `429 too_many_requests` beyond the budgets of mail.
 */
export async function inviteUser(
  deps: Pick<Deps, 'databases' | 'mail' | 'mailBudgets' | 'policies' | 'newId' | 'now'>,
  { id: workspace, database }: WorkspaceDefinition,
  { email: text, principal, origin, now }: { email: string } & Caller,
): Promise<void> {
  await requireMethod(deps, 'password', { workspace });
  const email = normalizeName(text);
  const { value: lifeSeconds } = await deps.policies.range('invite.ttl_sec', { workspace });
  const actor = await readActorName(deps, principal);
  if (!await deps.mailBudgets.spend(workspace, origin.ip)) {
    fail('too_many_requests', 'the mails that may be asked for in an hour are spent');
  }
  const secret = makeToken();
  const hash = hashToken(secret);
  await deps.databases.workspace(database).transaction(async (sql) => {
    if (await findUserId(sql, email) !== undefined) failDuplicateUser();
    const draft = { purpose: 'invite', email, userId: undefined, hash, lifeSeconds, now } as const;
    if (!await replaceToken(sql, draftToken(deps, draft), mailLimits)) {
      fail('too_many_requests', 'this address has been sent too many invitations; wait a minute');
    }
    const details = { expires_at: new Date(now.getTime() + lifeSeconds * 1_000) };
    await auditWorkspace(sql, deps, { actor, action: 'user_invite', target: email, details, origin });
  });
  await deps.mail.enqueue({ workspace, kind: 'invite', to: email, secret, lifeSeconds, discard: false });
}

/**
 * Creates the invited user, whose address is verified by that. Throws `400 validation` for an invalid token or a weak
 * password, `403 forbidden` where passwords have been switched off, `409 conflict` when the address has a user by now.
 */
export async function acceptInvitation(
  deps: Pick<Deps, 'databases' | 'passwords' | 'policies' | 'newId' | 'now'>,
  { id: workspace, database }: WorkspaceDefinition,
  { token, password, origin, now }: { token: string; password: string; origin: RequestOrigin; now: Date },
): Promise<User> {
  const at = { workspace };
  await requireMethod(deps, 'password', at);
  await checkNewPassword(deps.policies, at, { field: 'new_password', password });
  const connection = deps.databases.workspace(database);
  const query = { purpose: 'invite', hash: hashToken(token), now } as const;
  // A hash is expensive, so an invalid token is refused before it.
  if (await connection.run((sql) => findToken(sql, query)) === undefined) refuseToken();
  const client: PasswordClient = { network: networkOf(origin.ip), turn: 'others' };
  const password_hash = await deps.passwords.hash(`users of ${workspace}`, password, client);
  const mostUsers = await quotaLimit(deps.policies, 'quota.users', at);
  const row = await connection.transaction(async (sql) => {
    const { email } = await redeemToken(sql, query) ?? refuseToken();
    return await addUser(sql, deps, {
      ...{ id: deps.newId(), email, password_hash, verified: true },
      ...{ mostUsers, how: { by: 'invite' }, origin, now },
    });
  }).catch(refuseDuplicateUser);
  return showUser(row);
}
