// The change of a master admin's own password, which ends its other sessions.
import { isUuid } from '../../../storage/sql/ids.ts';
import { findMaster, replaceMasterPassword } from '../../../storage/control/master-admins.ts';
import { insertRevocations } from '../../../storage/control/revocations.ts';
import { revokeSessions } from '../../../storage/sessions.ts';
import { auditSystem } from '../../audit/write.ts';
import type { Deps } from '../../deps.ts';
import { fail } from '../../errors.ts';
import type { RequestOrigin } from '../../contract/route.ts';
import type { Principal } from '../../scope.ts';
import {
  beginAttempt,
  clearFailures,
  clientOf,
  CredentialsChanged,
  failAttempt,
  tryExclusively,
  unlessRehashed,
} from '../login/attempt.ts';
import { masterAttempt } from '../login/login-master.ts';
import { checkNewPassword } from '../passwords/policy.ts';

type ChangeDeps = Pick<
  Deps,
  'databases' | 'passwords' | 'policies' | 'revocations' | 'secrets' | 'newId' | 'now'
>;

/**
 * Changes the password. Throws `401 bad_credentials` for a wrong current password, which counts like a failed login, and
 * `429 too_many_requests` while the admin is locked.
 */
export async function changeMasterPassword(
  deps: ChangeDeps,
  principal: Principal,
  change: { current: string; next: string; origin: RequestOrigin; now: Date },
): Promise<void> {
  const { id, jti } = principal;
  const { current, next, origin, now } = change;
  const { databases: { control }, passwords, revocations } = deps;
  await checkNewPassword(deps.policies, {}, { field: 'new_password', password: next });
  const known = await control.run((sql) => findMaster(sql, id)) ?? fail('unauthorized', 'this admin is gone');
  const attempt = masterAttempt(deps, known.username, { proof: 'password', origin, now });
  await beginAttempt(deps, attempt);
  const { matches, isOutdated } = await passwords.verify(
    'masters',
    current,
    known.password_hash,
    clientOf(deps, attempt),
  );
  if (!matches || known.password_hash === null) return await failAttempt(deps, attempt);
  const hashes = { from: known.password_hash, to: await passwords.hash('masters', next) };
  const replacing = tryExclusively(deps, attempt, async (sql) => {
    if (!await replaceMasterPassword(sql, id, { ...hashes, now })) throw new CredentialsChanged();
    const revoked = [revocations.row('subject', id, { spared: jti })];
    await revokeSessions(sql, 'control', { principalId: id, spared: isUuid(jti) ? jti : undefined, now });
    await insertRevocations(sql, revoked);
    await clearFailures(sql, deps, attempt);
    await auditSystem(sql, deps, {
      actor: known.username,
      action: 'password_change',
      target: known.username,
      origin,
    });
    return revoked;
  });
  const replaced = await unlessRehashed(isOutdated, replacing);
  if (replaced === undefined) return await changeMasterPassword(deps, principal, change);
  revocations.apply(replaced.result);
}
