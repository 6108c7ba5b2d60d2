// JSON whose numbers are not rounded.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExactJson, parseJson } from '../../../storage/sql/exact-json.ts';
import { compareNumbers, exactNumber, isOutOfRange } from '../../../storage/sql/exact-number.ts';

const parsers = [['parseJson', parseJson], ['parseExactJson', parseExactJson]] as const;

/** Texts that must come back as they are, and what might be taken for a number or a mark. */
const kept = [
  '9007199254740993',
  '-9007199254740993',
  '12345678901234567168',
  '[0.1000000000000000055,0.30000000000000004,1.7976931348623157e+308,5e-324]',
  '{"9007199254740993":9007199254740993,"a":"9007199254740993"}',
  '["\\u0000n9007199254740993",9007199254740993,"\\u0000s","\\u0000","x\\u0000"]',
  '{"\\u0000n1":9007199254740993}',
  '["\\\\",9007199254740993,"\\"9007199254740993","\\\\\\"",0.1234567890123456789]',
  '{"__proto__":9007199254740993}',
];

describe.each(parsers)('%s', (_name, parse) => {
  it.each(kept.map((text) => [text]))('keeps %s', (text) => {
    expect(JSON.stringify(parse(text))).toBe(text);
  });

  it('reads everything else as JSON.parse does', () => {
    fc.assert(fc.property(fc.json(), fc.constantFrom(0, 1, '\t'), (text, space) => {
      const spaced = JSON.stringify(JSON.parse(text), null, space);
      expect(parse(spaced)).toEqual(JSON.parse(spaced));
    }));
  });

  it.each([
    ['a number as a key', '{9007199254740993 : 1}'],
    ['a number with more behind it', '[9007199254740993x]'],
    ['leading zeros', '[09007199254740993]'],
    ['two points', '[9007199254740993..1]'],
    ['a string that does not end', '[9007199254740993,"a\\"'],
    ['a minus alone', '[9007199254740993,-]'],
    ['nothing', ''],
  ])('refuses %s', (_what, text) => {
    expect(() => parse(text)).toThrow(SyntaxError);
  });
});

it('a number is a number when JavaScript writes the same value', () => {
  for (const text of ['1.10', '1e2', '-0', '0.000', '9007199254740992', '1E+3', '100000000000000000000000']) {
    expect(exactNumber(text)).toBe(Number(text));
  }
  for (const text of ['9007199254740993', '12345678901234567168', '4.9e-324', '1e-400', '1e400']) {
    expect(exactNumber(text)).toEqual(JSON.rawJSON(text));
  }
});

it('numbers compare by all of their digits', () => {
  const ascending = [
    '-1e400',
    '-9007199254740993',
    '-9007199254740992',
    '-1.5',
    '-1e-400',
    '0',
    '1e-400',
    '0.1',
    '0.1000000000000000055',
    '0.10000000000000000551',
    '9007199254740992',
    '9007199254740993',
    '9007199254740993.1',
    '1e23',
    '1.0000000000000000001e23',
  ];
  for (const [left, one] of ascending.entries()) {
    for (const [right, other] of ascending.entries()) {
      const order = compareNumbers(exactNumber(one), exactNumber(other));
      expect(order < 0 ? 'less' : order > 0 ? 'more' : 'same')
        .toBe(left < right ? 'less' : left > right ? 'more' : 'same');
    }
  }
  expect(compareNumbers(JSON.rawJSON('0.10e1'), JSON.rawJSON('1')) === 0).toBe(true);
  expect(compareNumbers(0, -0) === 0).toBe(true);
});

it('the range is that of doubles', () => {
  expect(['1.7976931348623157e308', '5e-324', '0', '-0.0e-999', '0e999'].filter(isOutOfRange)).toEqual([]);
  const beyond = ['1e309', '-1e309', '1e-400', '-0.01e-400', `0.${'0'.repeat(400)}1`];
  expect(beyond.filter(isOutOfRange)).toEqual(beyond);
});
