// Codes of an authenticator, by a clock of the test: which time steps they count for, and whose they are.
import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { describe, expect, it } from 'vitest';
import {
  findTimeStep,
  hashRecoveryCode,
  makeRecoveryCodes,
  makeTotpSecret,
} from '../../../../api/auth/totp/totp.ts';
import { Secrets, UnsealError } from '../../../../storage/secrets.ts';

const secrets = new Secrets(randomBytes(32));
const userId = 'ann';
const { text, sealed } = makeTotpSecret(secrets, { userId, email: 'ann@example.com', issuer: 'bulkhead' });
const authenticator = new TOTP({ secret: Secret.fromBase32(text) });
const start = Date.parse('2026-11-22T08:00:00Z');
const stepNow = start / 30_000;

it('a secret has 160 random bits (RFC 4226 section 4)', () => {
  expect(Secret.fromBase32(text).bytes).toHaveLength(20);
});

describe('a code', () => {
  it.each([
    [-60_001, undefined],
    [-31_000, undefined],
    [-30_000, -1],
    [-1, -1],
    [0, 0],
    [29_999, 0],
    [30_000, 1],
    [59_999, 1],
    [60_000, undefined],
  ])('totp.replay: that is %i ms off counts for the step %s', (off, step) => {
    const code = authenticator.generate({ timestamp: start + off });
    const counted = findTimeStep(secrets, { userId, sealed, code, now: new Date(start) });
    expect(counted).toBe(step === undefined ? undefined : stepNow + step);
  });

  it('may be written with spaces and in the digits of any script, and has six digits', () => {
    const code = authenticator.generate({ timestamp: start });
    const stepOf = (text: string) =>
      findTimeStep(secrets, { userId, sealed, code: text, now: new Date(start) });
    expect(stepOf(`${code.slice(0, 3)} ${code.slice(3)}`)).toBe(stepNow);
    const inFullWidth = [...code].map((digit) => '０１２３４５６７８９'[Number(digit)]).join('\t');
    expect(stepOf(inFullWidth)).toBe(stepNow);
    for (const other of ['', code.slice(1), `${code}0`, `-${code.slice(1)}`]) {
      expect(stepOf(other)).toBeUndefined();
    }
  });

  it('challenge.bound: is not looked at with the secret of another user', () => {
    const code = authenticator.generate({ timestamp: start });
    expect(() => findTimeStep(secrets, { userId: 'eve', sealed, code, now: new Date(start) })).toThrow(
      UnsealError,
    );
  });
});

describe('recovery codes', () => {
  it('may be written with any white space and in the digits of any script', () => {
    const { codes: [code = ''], hashes: [hash] } = makeRecoveryCodes(secrets, userId);
    const typed = code.replaceAll('-', '\u00a0').replaceAll(
      /\d/g,
      (digit) => '٠١٢٣٤٥٦٧٨٩'.charAt(Number(digit)),
    );
    expect(hashRecoveryCode(secrets, userId, typed)).toEqual(hash);
    expect(hashRecoveryCode(secrets, userId, `${typed}a`)).not.toEqual(hash);
  });

  it('are ten, each of 80 random bits, and stored for their user alone', () => {
    const { codes, hashes } = makeRecoveryCodes(secrets, userId);
    expect(new Set(codes).size).toBe(10);
    for (const [index, code] of codes.entries()) {
      expect(code).toMatch(/^[0-9a-f]{5}(-[0-9a-f]{5}){3}$/);
      expect(hashRecoveryCode(secrets, userId, code)).toEqual(hashes[index]);
      expect(hashRecoveryCode(secrets, 'eve', code)).not.toEqual(hashes[index]);
    }
  });
});
