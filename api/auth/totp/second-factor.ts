// Checks a code of a user's second factor, and uses it up.
import type { Sql } from '../../../storage/connections/pool.ts';
import type { Secrets } from '../../../storage/secrets.ts';
import { lockTotp, useRecoveryCode, useTotpStep } from '../../../storage/workspace/totp.ts';
import { findTimeStep, hashRecoveryCode } from './totp.ts';

/** Uses up a code of the authenticator, or a recovery code; false when it is neither, or was used before. */
export async function useSecondFactor(
  sql: Sql,
  secrets: Secrets,
  { userId, code, now }: { userId: string; code: string; now: Date },
): Promise<boolean> {
  // The user before the code, as whoever takes the factor away does.
  const known = await lockTotp(sql, userId);
  if (known?.totp_enabled !== true || known.totp_sealed === null) return false;
  const sealed = known.totp_sealed;
  const step = findTimeStep(secrets, { userId, sealed, code, now });
  if (step !== undefined) return await useTotpStep(sql, userId, step);
  return await useRecoveryCode(sql, userId, hashRecoveryCode(secrets, userId, code));
}
