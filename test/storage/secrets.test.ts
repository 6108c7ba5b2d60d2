// Keys from the master key, and what is sealed with them.
import { expect, it } from 'vitest';
import { Secrets, UnsealError } from '../../storage/secrets.ts';

const secrets = new Secrets(Buffer.alloc(32, 1));
const other = new Secrets(Buffer.alloc(32, 2));
const plaintext = Buffer.from('a secret at rest');

it('opens what it sealed, for the same purpose and owner', () => {
  const sealed = secrets.seal('totp', 'user-1', plaintext);
  expect(sealed.includes(plaintext)).toBe(false);
  expect(secrets.open('totp', 'user-1', sealed)).toEqual(plaintext);
});

it('never seals the same text to the same bytes', () => {
  expect(secrets.seal('totp', 'u', plaintext)).not.toEqual(secrets.seal('totp', 'u', plaintext));
});

it('opens nothing with another key, purpose or owner', () => {
  const sealed = secrets.seal('totp', 'user-1', plaintext);
  expect(() => other.open('totp', 'user-1', sealed)).toThrow(UnsealError);
  expect(() => secrets.open('totp', 'user-2', sealed)).toThrow(UnsealError);
  expect(() => secrets.open('signing-key', 'user-1', sealed)).toThrow(UnsealError);
});

it('opens nothing that was changed or cut', () => {
  const sealed = secrets.seal('totp', 'user-1', plaintext);
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => secrets.open('totp', 'user-1', changed)).toThrow(UnsealError);
    expect(() => secrets.open('totp', 'user-1', sealed.subarray(0, at))).toThrow(UnsealError);
  }
});

it('derives one password for each role and key', () => {
  const password = secrets.derivePassword('w_1');
  expect(password).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(new Secrets(Buffer.alloc(32, 1)).derivePassword('w_1')).toBe(password);
  expect(secrets.derivePassword('w_2')).not.toBe(password);
  expect(other.derivePassword('w_1')).not.toBe(password);
});

it('recognises its own key check only', () => {
  expect(secrets.matches(secrets.keyCheck())).toBe(true);
  expect(secrets.matches(other.keyCheck())).toBe(false);
  expect(secrets.matches(Buffer.alloc(0))).toBe(false);
});

it('refuses a master key of another length', () => {
  expect(() => new Secrets(Buffer.alloc(31))).toThrow(RangeError);
});
