// Tokens and codes that work once. Only their hashes are stored.
import { createHash, randomBytes, randomInt } from 'node:crypto';
import type { MailBudget } from '../../../storage/workspace/mail-budgets.ts';
import type { LoginMethod, OneTimeToken, TokenPurpose } from '../../../storage/workspace/one-time-tokens.ts';
import type { Secrets } from '../../../storage/secrets.ts';
import type { Deps } from '../../deps.ts';
import { failValidation } from '../../errors.ts';
import { readTypedCode } from '../typed-code.ts';
import { asciiAddress } from '../../../storage/sql/email-address.ts';

/** The life of a mailed token. */
export const mailedTokenLifeSeconds = 3_600;

/** The time in which a notice of a change may be sent. */
export const noticeLifeSeconds = 86_400;

/** The mails to an address for one purpose: five at once, then one a minute. */
export const mailLimits: MailBudget = { burst: 5, everySeconds: 60 };

const tokenBytes = 32;

/** Creates a token of 256 random bits. */
export function makeToken(): string {
  return randomBytes(tokenBytes).toString('base64url');
}

/** Creates a code of so many digits. */
export function makeCode(digits: number): string {
  return String(randomInt(10 ** digits)).padStart(digits, '0');
}

/** Hashes a token as it is stored. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Hashes a code as it is stored. The hash has a key, because all codes are tried in little time. */
export function hashCode(
  secrets: Secrets,
  { workspace, email, code }: { workspace: string; email: string; code: string },
): Buffer {
  return secrets.keyedHash(`otp ${workspace} ${asciiAddress(email)}`, readTypedCode(code));
}

/** The recipient of a mail that a client asks for. */
export interface Recipient {
  email: string;
  /** True when the budget of the client or the workspace is spent. Then the address is one that nobody has. */
  isSpent: boolean;
}

/**
 * Takes a mail out of the budgets of its client and workspace. When they are spent, the same work is done for an address that
 * nobody has: it takes as long, and neither the budget nor the last token of the real one is touched.
 */
export async function chooseRecipient(
  { mailBudgets, newId }: Pick<Deps, 'mailBudgets' | 'newId'>,
  { workspace, email, ip }: { workspace: string; email: string; ip: string },
): Promise<Recipient> {
  return await mailBudgets.spend(workspace, ip)
    ? { email, isSpent: false }
    : { email: `${newId()}@nobody.invalid`, isSpent: true };
}

/** Creates the row of a token, to be stored. */
export function draftToken<Purpose extends TokenPurpose>(
  { newId }: Pick<Deps, 'newId'>,
  { purpose, email, userId, hash, app, method, lifeSeconds, now }: {
    purpose: Purpose;
    email: string;
    userId: string | undefined;
    hash: Buffer;
    app?: string | undefined;
    method?: LoginMethod | undefined;
    lifeSeconds: number;
    now: Date;
  },
): OneTimeToken & { purpose: Purpose } {
  return {
    id: newId(),
    purpose,
    email,
    user_id: userId ?? null,
    hash,
    app: app ?? null,
    method: method ?? null,
    created_at: now,
    expires_at: new Date(now.getTime() + lifeSeconds * 1_000),
  };
}

/** Ends a request with an invalid mailed token. */
export function refuseToken(): never {
  failValidation([{ field: 'token', reason: 'is not valid, has expired or has been used' }]);
}
