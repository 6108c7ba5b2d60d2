// The proof that a signed-in end-user knows the password, before the account is changed.
import type { Sql } from '../../../storage/connections/pool.ts';
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { lockUser, type UserRow } from '../../../storage/workspace/user-accounts.ts';
import type { Caller } from '../../audit/actor.ts';
import type { Deps } from '../../deps.ts';
import {
  type Attempt,
  beginAttempt,
  clientOf,
  CredentialsChanged,
  failAttempt,
  tryExclusively,
  unlessRehashed,
} from '../login/attempt.ts';
import { userAttempt } from '../login/user-attempt.ts';
import { failNoPrincipal } from './me.ts';

/** A user whose password has just been checked. */
export interface ProvedPassword {
  user: UserRow;
  attempt: Attempt;
  /** True when a login at the same time may replace the hash by another one of the same password. */
  isOutdated: boolean;
}

/**
 * Checks the password of a user. Throws `401 bad_credentials` for a wrong one, which counts like a failed login, and
 * `429 too_many_requests` while the user is locked.
 */
export async function provePassword(
  deps: Pick<Deps, 'databases' | 'passwords' | 'secrets' | 'newId' | 'now'>,
  workspace: WorkspaceDefinition,
  { user, password, origin, now }: { user: UserRow; password: string } & Omit<Caller, 'principal'>,
): Promise<ProvedPassword> {
  const attempt = userAttempt(deps, workspace, { email: user.email, proof: 'password', origin, now });
  await beginAttempt(deps, attempt);
  const { matches, isOutdated } = await deps.passwords.verify(
    `users of ${workspace.id}`,
    password,
    user.password_hash,
    clientOf(deps, attempt),
  );
  return matches ? { user, attempt, isOutdated } : await failAttempt(deps, attempt);
}

/**
 * Runs `work` in a transaction that has locked the user, whose password is still the one that was proved. Returns undefined
 * when its hash has been replaced meanwhile: then the caller proves it again. Throws `401`, `429 too_many_requests`.
 */
export async function changeProved<Result>(
  deps: Pick<Deps, 'newId' | 'now' | 'secrets'>,
  { user: { id, password_hash }, attempt, isOutdated }: ProvedPassword,
  work: (sql: Sql, user: UserRow) => Promise<Result>,
): Promise<{ result: Result } | undefined> {
  const changing = tryExclusively(deps, attempt, async (sql) => {
    const current = await lockUser(sql, id) ?? failNoPrincipal();
    if (current.password_hash !== password_hash) throw new CredentialsChanged();
    return { value: await work(sql, current) };
  });
  const changed = await unlessRehashed(isOutdated, changing);
  return changed === undefined ? undefined : { result: changed.result.value };
}
