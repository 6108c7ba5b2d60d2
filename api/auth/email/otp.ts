// The login by a mailed code, which also registers the user of an address.
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import {
  countWrongCode,
  findToken,
  redeemToken,
  replaceToken,
  voidTokens,
} from '../../../storage/workspace/one-time-tokens.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { findUserId, lockUser, type UserRow } from '../../../storage/workspace/user-accounts.ts';
import type { Deps } from '../../deps.ts';
import { fail } from '../../errors.ts';
import type { RequestOrigin } from '../../contract/route.ts';
import { quotaLimit } from '../../usage/quota.ts';
import { addUser } from '../login/add-user.ts';
import { type Attempt, beginAttempt, normalizeName } from '../login/attempt.ts';
import { revokeAllTokens } from '../tokens/end-user-tokens.ts';
import { chooseRecipient, draftToken, hashCode, mailLimits, makeCode } from './one-time.ts';
import { proveAddress } from './prove-address.ts';
import { type SignInDeps, type SignInOutcome, signInUser } from '../login/sign-in-user.ts';
import { requireMethod, userAttempt } from '../login/user-attempt.ts';
import { hooksBeforeRegister } from '../login/user-hooks.ts';

/** Wrong codes that void the mailed one, from whatever clients. */
const maxWrongCodes = 5;

type OtpDeps = SignInDeps & Pick<Deps, 'revocations'>;

/** Mails a code to an address, whether or not it has a user. Earlier codes become invalid. */
export async function requestOtp(
  deps: Pick<Deps, 'databases' | 'mail' | 'mailBudgets' | 'policies' | 'secrets' | 'newId'>,
  { id: workspace, database }: WorkspaceDefinition,
  { email: text, ip, now }: { email: string; ip: string; now: Date },
): Promise<void> {
  await requireMethod(deps, 'otp', { workspace });
  const { value: lifeSeconds } = await deps.policies.range('otp.ttl_sec', { workspace });
  const { email, isSpent } = await chooseRecipient(deps, { workspace, email: normalizeName(text), ip });
  const { value: digits } = await deps.policies.range('otp.digits', { workspace });
  const secret = makeCode(digits);
  const hash = hashCode(deps.secrets, { workspace, email, code: secret });
  const token = draftToken(deps, { purpose: 'otp', email, userId: undefined, hash, lifeSeconds, now });
  const replaced = await deps.databases.workspace(database)
    .transaction((sql) => replaceToken(sql, token, mailLimits));
  const discard = isSpent || !replaced;
  await deps.mail.enqueue({ workspace, kind: 'otp', to: email, secret, lifeSeconds, discard });
}

/** Issues tokens, and creates the user when there is none. Throws `401 bad_credentials`, `403`, `429`. */
export async function loginByOtp(
  deps: OtpDeps,
  workspace: WorkspaceDefinition,
  { email, code, app, origin, now }: {
    email: string;
    code: string;
    app?: string | undefined;
    origin: RequestOrigin;
    now: Date;
  },
): Promise<SignInOutcome> {
  const attempt = userAttempt(deps, workspace, { email, proof: 'mailed code', origin, now });
  await beginAttempt(deps, attempt);
  const hash = hashCode(deps.secrets, { workspace: workspace.id, email: attempt.actor, code });
  const mostUsers = await quotaLimit(deps.policies, 'quota.users', { workspace: workspace.id, app });
  const query = { purpose: 'otp', hash, now } as const;
  const newId = deps.newId();
  const mayRegister = await askHooks(deps, workspace, { attempt, app, query, newId });
  const prove = async (sql: Sql) => {
    if (await findToken(sql, query) === undefined) {
      await countWrongCode(sql, { email: attempt.actor, max: maxWrongCodes, now });
      return undefined;
    }
    // Locks the user before the token, like `redeemMailed`.
    const id = await findUserId(sql, attempt.actor);
    const user = id === undefined ? undefined : await lockUser(sql, id) ?? failNoUser();
    if (await redeemToken(sql, query) === undefined) return undefined;
    if (user === undefined && !mayRegister) failNoUser();
    return user === undefined
      ? await addUser(sql, deps, {
        ...{ id: newId, email: attempt.actor, password_hash: null, verified: true },
        ...{ mostUsers, how: { by: 'otp' }, origin, now },
      })
      : await markProved(sql, deps, { user, now });
  };
  return await signInUser(deps, attempt, { workspace, app, method: 'otp', prove });
}

/**
 * Runs the hooks before a registration, if there is to be one. Returns false when there is a user: should that be removed
 * meanwhile, no other may be added. Throws what hooks throw.
 */
async function askHooks(
  deps: OtpDeps,
  workspace: WorkspaceDefinition,
  { attempt: { connection, actor, origin }, app, query, newId }: {
    attempt: Attempt;
    app: string | undefined;
    query: Parameters<typeof findToken>[1];
    newId: string;
  },
): Promise<boolean> {
  const beforeRegister = await hooksBeforeRegister(deps, workspace, app);
  if (beforeRegister === undefined) return true;
  const isNew = await connection.run(async (sql) =>
    await findToken(sql, query) !== undefined && await findUserId(sql, actor) === undefined
  );
  if (!isNew) return false;
  const user = { id: newId, email: actor, verified: true };
  await beforeRegister({ user, method: 'otp', requestId: origin.requestId });
  return true;
}

/** Marks the address of a user as proved. */
async function markProved(
  sql: Sql,
  deps: OtpDeps,
  { user, now }: { user: UserRow; now: Date },
): Promise<UserRow> {
  if (!await proveAddress(sql, user, now)) return user;
  await voidTokens(sql, { userId: user.id, email: user.email, now });
  await revokeAllTokens(sql, deps, { userId: user.id, now });
  return await lockUser(sql, user.id) ?? failNoUser();
}

function failNoUser(): never {
  fail('bad_credentials', 'the user was just removed');
}
