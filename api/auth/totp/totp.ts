// Codes of an authenticator: https://www.rfc-editor.org/rfc/rfc6238
import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { Secrets } from '../../../storage/secrets.ts';
import { readTypedCode } from '../typed-code.ts';

/** A new secret, for the user's authenticator and for the database. */
export interface TotpSecret {
  /** Base32. */
  text: string;
  /** An otpauth URI; as a QR code an authenticator reads it. */
  uri: string;
  sealed: Buffer;
}

const periodSeconds = 30;
const secretBytes = 20;
const recoveryCodes = 10;
const recoveryBytes = 10;

/** Makes a secret for a user. */
export function makeTotpSecret(
  secrets: Secrets,
  { userId, email, issuer }: { userId: string; email: string; issuer: string },
): TotpSecret {
  const secret = new Secret({ size: secretBytes });
  const text = secret.base32;
  return {
    text,
    uri: generator(secret, { issuer, label: email }).toString(),
    sealed: secrets.seal('totp', userId, Buffer.from(text)),
  };
}

/**
 * The time step that a code belongs to: this one, the one before or the one after; undefined for a wrong code. A step
 * may count once only, which is for the caller to see to.
 */
export function findTimeStep(
  secrets: Secrets,
  { userId, sealed, code, now }: { userId: string; sealed: Buffer; code: string; now: Date },
): number | undefined {
  const token = readTypedCode(code);
  if (!/^\d{6}$/.test(token)) return undefined;
  const secret = Secret.fromBase32(secrets.open('totp', userId, sealed).toString('utf8'));
  const delta = generator(secret, { issuer: '', label: 'x' }).validate({
    token,
    timestamp: now.getTime(),
    window: 1,
  });
  return delta === null ? undefined : Math.floor(now.getTime() / (periodSeconds * 1_000)) + delta;
}

/** New recovery codes, like `4f1a-…`, and how they are stored. */
export function makeRecoveryCodes(secrets: Secrets, userId: string): { codes: string[]; hashes: Buffer[] } {
  const codes = Array.from(
    { length: recoveryCodes },
    () => randomBytes(recoveryBytes).toString('hex').replaceAll(/(.{5})(?=.)/g, '$1-'),
  );
  return { codes, hashes: codes.map((code) => hashRecoveryCode(secrets, userId, code)) };
}

/** How a recovery code is stored. Its case, white space, hyphens and the script of its digits do not count. */
export function hashRecoveryCode(secrets: Secrets, userId: string, code: string): Buffer {
  return secrets.keyedHash(`recovery ${userId}`, readTypedCode(code).toLowerCase().replaceAll('-', ''));
}

function generator(secret: Secret, { issuer, label }: { issuer: string; label: string }): TOTP {
  return new TOTP({ issuer, label, secret, algorithm: 'SHA1', digits: 6, period: periodSeconds });
}
