// The login of a master admin.
import { findMaster, findMasterByUsername, rehashMaster } from '../../../storage/control/master-admins.ts';
import { insertSession } from '../../../storage/sessions.ts';
import { type Admin, showMaster } from '../account/admin-response.ts';
import type { Deps } from '../../deps.ts';
import type { RequestOrigin } from '../../contract/route.ts';
import {
  type Attempt,
  beginAttempt,
  clientOf,
  completeAttempt,
  CredentialsChanged,
  failAttempt,
  normalizeName,
  tryExclusively,
  unlessRehashed,
} from './attempt.ts';
import type { TokenPair } from '../sessions/cookies.ts';
import { issueSignIn } from './issue-sign-in.ts';
import { draftSession } from '../sessions/sessions.ts';

type LoginDeps = Pick<
  Deps,
  'databases' | 'passwords' | 'policies' | 'revocations' | 'secrets' | 'tokens' | 'newId' | 'now'
>;

/** An attempt of a master admin to log in or to change the password. */
export function masterAttempt(
  { databases }: Pick<Deps, 'databases'>,
  username: string,
  of: Pick<Attempt, 'proof' | 'origin' | 'now'>,
): Attempt {
  const actor = normalizeName(username);
  return {
    connection: databases.control,
    schema: 'control',
    as: 'master',
    subject: masterSubject(actor),
    actor,
    ...of,
  };
}

/** The key that failures of a master admin are counted by. */
export function masterSubject(actor: string): string {
  return `master:${actor}`;
}

/** Issues tokens. Throws `401 bad_credentials`, `429 too_many_requests`. */
export async function loginMaster(
  deps: LoginDeps,
  credentials: { username: string; password: string },
  by: { origin: RequestOrigin; now: Date },
): Promise<{ pair: TokenPair; admin: Admin }> {
  const { username, password } = credentials;
  const attempt = masterAttempt(deps, username, by);
  const id = deps.revocations.newId();
  const { control } = deps.databases;
  const { found: known, check } = await deps.passwords.findAndVerify('masters', password, async () => {
    await beginAttempt(deps, attempt);
    return await control.run((sql) => findMasterByUsername(sql, attempt.actor));
  }, clientOf(deps, attempt));
  if (known === undefined || !check.matches) return await failAttempt(deps, attempt);
  const grant = { role: 'master_admin', id: known.id } as const;
  const draft = await draftSession(deps, { id, kind: 'master', grant, app: undefined, origin: by.origin });
  const completing = tryExclusively(deps, attempt, async (sql) => {
    // First, since it may wait for a transaction that changes the password.
    await completeAttempt(sql, deps, attempt);
    const current = await findMaster(sql, known.id);
    if (current?.password_hash !== known.password_hash) throw new CredentialsChanged();
    await insertSession(sql, 'control', draft.row);
    return true;
  });
  if (await unlessRehashed(check.isOutdated, completing) === undefined) {
    return await loginMaster(deps, credentials, by);
  }
  await deps.passwords.renew(
    { owner: 'masters', password, hash: known.password_hash },
    (hashes) => control.run((sql) => rehashMaster(sql, known.id, hashes)),
  );
  return { pair: await issueSignIn(deps, attempt, draft), admin: showMaster(known) };
}
