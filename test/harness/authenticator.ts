// A user's authenticator app.
import { setTimeout as pause } from 'node:timers/promises';
import { Secret, TOTP } from 'otpauth';
import { type Caller, expectOk } from './api.ts';

/** Shows codes. */
export interface Authenticator {
  /** The code of this time step, or of one that is `steps` away. */
  code(steps?: number): string;
  /** The code that confirmed it. */
  used: string;
  recoveryCodes: string[];
}

const period = 30_000;
/** A code of the step before is good until this step ends, and a busy machine may need that long to look at it. */
const leeway = 5_000;

/** Enrols a user whose token the caller has. The code of the step before this one is used up by it. */
export async function enrol(user: Caller, auth: string): Promise<Authenticator> {
  const { secret } = expectOk(await user.post(`${auth}/totp/enroll`));
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  const code = (steps = 0) => totp.generate({ timestamp: Date.now() + steps * period });
  const left = period - Date.now() % period;
  if (left < leeway) await pause(left);
  const used = code(-1);
  const confirmed = expectOk(await user.post(`${auth}/totp/confirm`, { code: used }));
  return { code, used, recoveryCodes: confirmed.recovery_codes };
}

/** A code of six digits that is none of these. */
export function wrongCode(authenticator: Authenticator): string {
  const right = [-1, 0, 1, 2].map((steps) => authenticator.code(steps));
  return ['000000', '111111', '222222', '333333', '444444'].find((code) => !right.includes(code)) ?? '';
}
