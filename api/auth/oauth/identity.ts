// Which user of the workspace an account at a provider belongs to.
import {
  findLinkedUser,
  insertLink,
  lockAccount,
  type ProviderAccount,
} from '../../../storage/workspace/oauth-links.ts';
import { voidTokens } from '../../../storage/workspace/one-time-tokens.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import {
  findUser,
  findUserByEmail,
  lockUser,
  setVerified,
  type UserRow,
} from '../../../storage/workspace/user-accounts.ts';
import { auditWorkspace } from '../../audit/write.ts';
import type { Deps } from '../../deps.ts';
import { fail } from '../../errors.ts';
import type { RequestOrigin } from '../../contract/route.ts';
import { addUser } from '../login/add-user.ts';
import { revokeAllTokens } from '../tokens/end-user-tokens.ts';
import { proveAddress } from '../email/prove-address.ts';
import type { ProviderProfile } from './profile.ts';
import { asciiAddress } from '../../../storage/sql/email-address.ts';

/** Somebody with an account at a provider. */
export interface IdentityClaim {
  account: ProviderAccount;
  profile: ProviderProfile;
  /** How many users the workspace may have. */
  mostUsers: number | undefined;
  /** The id of the user, if one is to be added. */
  newId: string;
  origin: RequestOrigin;
  now: Date;
}

/** The outcome for a claim. */
export type AccountMatch =
  | { as: 'linked'; user: UserRow }
  | { as: 'new'; email: string }
  | { as: 'owner'; user: UserRow }
  | { as: 'none'; email: string; reason: string };

/**
 * By the account first, then by an address that the provider vouches for: without that, anybody could name the address
 * of somebody else.
 */
export async function matchAccount(sql: Sql, { account, profile }: IdentityClaim): Promise<AccountMatch> {
  const id = await findLinkedUser(sql, account);
  const linked = id === undefined ? undefined : await findUser(sql, id);
  if (linked !== undefined) return { as: 'linked', user: linked };
  const { email, isVerified } = profile;
  if (email === undefined) {
    return { as: 'none', email: '', reason: 'the provider tells no usable email address' };
  }
  const owner = await findUserByEmail(sql, email);
  if (owner === undefined) return { as: 'new', email };
  if (isVerified) return { as: 'owner', user: owner };
  return { as: 'none', email, reason: 'the provider does not vouch for the email address' };
}

type IdentityDeps = Pick<Deps, 'databases' | 'revocations' | 'newId' | 'now'>;

/** The user, made or linked when this is the first time. Adds none unless `mayRegister`. Throws `403 forbidden`. */
export async function identify(
  sql: Sql,
  deps: IdentityDeps,
  { mayRegister, ...claim }: IdentityClaim & { mayRegister: boolean },
): Promise<UserRow> {
  await lockAccount(sql, claim.account);
  const match = await matchAccount(sql, claim);
  switch (match.as) {
    case 'linked':
      return await verifyLinked(sql, deps, {
        ...claim,
        user: await lockLinked(sql, claim.account, match.user.id),
      });
    case 'new':
      if (!mayRegister) failChanged();
      return await addLinked(sql, deps, { ...claim, email: match.email });
    case 'owner':
      return await linkByAddress(sql, deps, { ...claim, user: match.user });
    case 'none':
      return refuseIdentity(match.reason);
  }
}

/** Ends the sign-in of somebody who cannot be told to be a user. */
export function refuseIdentity(reason: string): never {
  fail('forbidden', reason);
}

/** Another proof of the address, while this waited for the row, has dropped the link. */
async function lockLinked(sql: Sql, account: ProviderAccount, id: string): Promise<UserRow> {
  const user = await lockUser(sql, id) ?? failChanged();
  return await findLinkedUser(sql, account) === id ? user : failChanged();
}

/** An address that the user's own provider vouches for by now is verified. Its maker has the account: nothing is dropped. */
async function verifyLinked(
  sql: Sql,
  deps: IdentityDeps,
  { account, profile, user, origin, now }: IdentityClaim & { user: UserRow },
): Promise<UserRow> {
  const { id, email } = user;
  if (user.verified || !profile.isVerified || asciiAddress(profile.email ?? '') !== asciiAddress(email)) {
    return user;
  }
  const details = { id, by: 'oauth', provider: account.provider };
  await auditWorkspace(sql, deps, { actor: email, action: 'email_verify', target: email, details, origin });
  return await setVerified(sql, id, { verified: true, now }) ?? failChanged();
}

async function addLinked(
  sql: Sql,
  deps: IdentityDeps,
  { account, profile, email, mostUsers, newId, origin, now }: IdentityClaim & { email: string },
): Promise<UserRow> {
  const { provider } = account;
  const { id } = await addUser(sql, deps, {
    ...{ id: newId, email, password_hash: null, verified: profile.isVerified },
    ...{ mostUsers, how: { by: 'oauth', provider }, origin, now },
  });
  await insertLink(sql, account, { userId: id, now });
  return await lockUser(sql, id) ?? failChanged();
}

/** The maker of an account for somebody else's address keeps nothing of it. */
async function linkByAddress(
  sql: Sql,
  deps: IdentityDeps,
  { account, user: { id, email }, origin, now }: IdentityClaim & { user: UserRow },
): Promise<UserRow> {
  const user = await lockUser(sql, id);
  if (user?.email !== email) failChanged();
  const cleaned = await proveAddress(sql, user, now);
  if (cleaned) {
    await voidTokens(sql, { userId: id, email, now });
    await revokeAllTokens(sql, deps, { userId: id, now });
  }
  await insertLink(sql, account, { userId: id, now });
  const details = { id, provider: account.provider, credentials_dropped: cleaned };
  await auditWorkspace(sql, deps, { actor: email, action: 'oauth_link', target: email, details, origin });
  return await lockUser(sql, id) ?? failChanged();
}

function failChanged(): never {
  fail('bad_credentials', 'the user was just changed');
}
