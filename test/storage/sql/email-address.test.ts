// What an email address is, in both forms of an international domain.
import { describe, expect, it } from 'vitest';
import {
  addressFault,
  addressForms,
  asciiAddress,
  normalizeAddress,
  uniqueForm,
} from '../../../storage/sql/email-address.ts';

const ascii = 'ada@xn--bcher-kva.example';
const written = 'ada@bücher.example';

describe('an address of an international domain', () => {
  it.each([
    ['ada@bücher.example', written],
    ['ADA@BÜCHER.example', written],
    ['Ada@bu\u0308cher.example', written],
    ['ada@bücher。example', written],
    ['ada@xn--bcher-kva.example', ascii],
    ['Ada@XN--Bcher-KVA.example', ascii],
  ])('%s is stored as %s, and is one with the other form', (text, stored) => {
    expect(addressFault(text)).toBeUndefined();
    expect(normalizeAddress(text)).toBe(stored);
    expect(asciiAddress(text)).toBe(ascii);
    expect(addressForms(text)).toEqual([ascii, written]);
    expect(uniqueForm(text)).toBe(ascii);
  });

  it.each([
    ['ada@ｅxample.com', 'ada@example.com'],
    ['ada@\u212A.com', 'ada@k.com'],
    ['Ada@Example.com', 'ada@example.com'],
    ['ada@1.2', 'ada@1.2'],
    ['ada@xn--a.de', 'ada@xn--a.de'],
  ])('%s is %s, which has one form', (text, stored) => {
    expect(addressFault(text)).toBeUndefined();
    expect(normalizeAddress(text)).toBe(stored);
    expect(addressForms(text)).toEqual([stored]);
    expect(uniqueForm(text)).toBeNull();
  });
});

describe('no address', () => {
  it.each([
    'nobody',
    '',
    '@',
    'ada@',
    '@bücher.example',
    'ada@bücher/evil.example',
    'ada@bücher／evil.example',
    'ada@bücher.example:25',
    'ada@bü cher.example',
    'ada@bücher..example',
    'ada@bücher.example.',
    'ada@bücher_.example',
    'ada@b%C3%BCcher.example',
    'ada@bob@bücher.example',
    `ada@${'ü'.repeat(64)}.example`,
    `ada@${'ü.'.repeat(2_000)}example`,
    'ada@bücher.example\n',
    'ada@bücher.example, eve',
  ])('is %s', (text) => {
    expect(addressFault(text)).toBe('must be an email address');
  });

  it.each(['ädä@example.com', 'ädä@bücher.example', '\u212Ate@example.com'])(
    'is %s, since mail servers may know ASCII only',
    (text) => {
      expect(addressFault(text)).toBe('must be an email address with only ASCII characters before the @');
    },
  );
});
