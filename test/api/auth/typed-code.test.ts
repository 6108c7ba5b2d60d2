// Codes as people type them.
import { expect, it } from 'vitest';
import { readTypedCode } from '../../../api/auth/typed-code.ts';

it.each([
  ['with spaces', '123 456'],
  ['with no-break spaces', '123\u00a0456\u202f'],
  ['with tabs and line ends', '\t123\r\n456\n'],
  ['in Arabic-Indic digits', '١٢٣٤٥٦'],
  ['in full-width digits', '１２３４５６'],
  ['in Devanagari digits', '१२३४५६'],
  ['in mathematical bold and monospaced digits', '𝟏𝟐𝟑𝟺𝟻𝟼'],
])('is read %s', (_how, text) => {
  expect(readTypedCode(text)).toBe('123456');
});

it.each(['½23456', '12３-456', 'abc', '', '一二三四五六', '\ud800'])(
  'keeps what is no digit, so that %j is a wrong code',
  (text) => {
    expect(readTypedCode(text)).not.toBe('123456');
  },
);
