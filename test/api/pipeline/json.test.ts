// The scan of JSON before it is parsed: what it refuses, what it lets through, and that nothing makes it slow.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../api/errors.ts';
import { scanJson, scanJsonInSteps } from '../../../api/http/protection/json-shape.ts';

/** `ok`, or the code that the scan refuses the text with. */
function verdict(text: string | Buffer): string {
  try {
    scanJson(Buffer.from(text));
    return 'ok';
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

describe('json.shape: the scan', () => {
  it.each([
    ['nesting of 65', nested(65)],
    ['nesting of 65 objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`],
    ['100,001 tokens', `[${'1,'.repeat(99_999)}1]`],
    ['a NUL character', '{"a":"x\\u0000y"}'],
    ['a NUL character in a key', '{"\\u0000":1}'],
    ['a lone high surrogate', '{"a":"\\ud800"}'],
    ['a lone high surrogate before text', '{"a":"\\ud800abc"}'],
    ['a lone low surrogate', '{"a":"\\udc00"}'],
    ['two low surrogates', '{"a":"\\udc00\\udc00"}'],
    ['two high surrogates', '{"a":"\\ud800\\ud800"}'],
    ['a number that is not finite', '{"a":1e400}'],
    ['a negative one', '{"a":-1e400}'],
    ['one that a double makes zero', '{"a":-1e-400}'],
    ['one that has many digits', `{"a":0.${'0'.repeat(400)}1}`],
    ['one of many digits', `{"a":${'9'.repeat(400)}}`],
    ['a number of 1,001 characters', `{"a":0.${'1'.repeat(999)}}`],
    ['a __proto__ key', '{"__proto__":{"x":1}}'],
    ['an escaped __proto__ key', '{"\\u005f_proto__":1}'],
    ['a __proto__ key far down', '{"a":[{"b":{"__proto__":1}}]}'],
    ['a key given twice', '{"a":1,"a":2}'],
    ['a key given twice, once escaped', '{"a":1,"\\u0061":2}'],
  ])('refuses %s', (_what, text) => {
    expect(verdict(text)).toBe('validation');
  });

  it('refuses bytes that are not UTF-8 as something that is no JSON at all', () => {
    expect(verdict(Buffer.of(0x22, 0xff, 0x22))).toBe('deserialization');
    expect(verdict(Buffer.of(0x22, 0xed, 0xa0, 0x80, 0x22))).toBe('deserialization');
  });

  it('refuses a word that goes on and on as something that is no JSON at all', () => {
    expect(verdict('{"a":falsehood}')).toBe('deserialization');
    expect(verdict('[true,false,null]')).toBe('ok');
  });

  it.each([
    ['nesting of 64', nested(64)],
    ['100,000 tokens', `[${'1,'.repeat(99_998)}1]`],
    ['a surrogate pair', '{"a":"\\ud83d\\ude00"}'],
    ['the largest double', '{"a":1.7976931348623157e308}'],
    ['a number of 1,000 characters', `{"a":0.${'1'.repeat(998)}}`],
    ['the smallest double', '{"a":5e-324}'],
    ['zero with an exponent', '{"a":0.0e-400}'],
    ['__proto__ as a value', '{"a":"__proto__"}'],
    ['the same key in two objects', '[{"a":1},{"a":2}]'],
    ['brackets, quotes and backslashes in text', String.raw`{"a":"[[[{{{\"\\","b":"\\\\"}`],
    ['a backslash before u0000', String.raw`{"a":"\\u0000"}`],
    ['constructor and prototype as keys', '{"constructor":1,"prototype":2}'],
  ])('lets through %s', (_what, text) => {
    expect(verdict(text)).toBe('ok');
  });

  it('lets through whatever JSON.stringify makes of plain values', () => {
    const key = fc.string({ unit: 'grapheme' }).filter((text) =>
      text !== '__proto__' && !text.includes('\0')
    );
    const text = fc.string({ unit: 'grapheme' }).filter((value) =>
      !value.includes('\0') && value.isWellFormed()
    );
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { depthSize: 'small' },
        tie('leaf'),
        fc.array(tie('any')),
        fc.dictionary(key, tie('any')),
      ),
      leaf: fc.oneof(
        text,
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
      ),
    })).any;
    fc.assert(fc.property(value, fc.nat(3), (any, indent) => {
      expect(verdict(JSON.stringify(any, null, indent))).toBe('ok');
    }));
  });

  it('never throws anything but its refusals, whatever the bytes', () => {
    const bytes = fc.array(fc.constantFrom(...'[]{}",:\\u0d8e-1.tn_ \n'), { maxLength: 60 }).map((all) =>
      all.join('')
    );
    fc.assert(
      fc.property(bytes, (text) => {
        expect(['ok', 'validation', 'deserialization']).toContain(verdict(text));
      }),
      { numRuns: 2_000 },
    );
  });
});

/** The verdict of a scan in steps of so many bytes. */
function verdictInSteps(text: string, stepBytes: number): string {
  try {
    for (const _ of scanJsonInSteps(Buffer.from(text), stepBytes));
    return 'ok';
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

it('json.shape: a scan in steps, of whatever size, comes to what a scan at once does', () => {
  const pieces = [
    '[',
    ']',
    '{',
    '}',
    '"',
    '"ab"',
    ':',
    ',',
    '\\',
    '\\"',
    '\\u0000',
    '\\ud83d\\ude00',
    '\\ud800',
    'a',
    'é',
    '12.5',
  ];
  const long = fc.constantFrom('x'.repeat(600), '\\n'.repeat(300), '"k":1,');
  const text = fc.array(fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...pieces) }, long), {
    maxLength: 30,
  })
    .map((all) => all.join(''));
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 700 }), (any, stepBytes) => {
      expect(verdictInSteps(any, stepBytes)).toBe(verdict(any));
    }),
    { numRuns: 3_000 },
  );
});

const eightMiB = 8_388_608;

/**
 * Milliseconds of the fastest of up to thirty scans, until one is within the limit: what a scan costs once the code is
 * warm, and not what else the machine does meanwhile.
 */
function best(bytes: Buffer, limit: number): number {
  let fastest = Infinity;
  for (let round = 0; round < 30 && fastest >= limit; round++) {
    const started = performance.now();
    verdict(bytes);
    fastest = Math.min(fastest, performance.now() - started);
  }
  return fastest;
}

const fill = (unit: string) => Buffer.from(unit.repeat(Math.floor(eightMiB / unit.length)));

describe('json.shape: 8 MiB of the worst', () => {
  it.each([
    ['opening brackets', '['],
    ['opening objects', '{"a":'],
    ['empty arrays', '[],'],
    ['numbers', '1,'],
    ['long numbers', '1234567890123456789,'],
    ['words', 'true,'],
    ['short text', '"a",'],
    ['digits of one number', '9'],
    ['exponents', '1e9'],
    ['letters of one word', 'a'],
  ])('keeps the event loop free: %s', (_what, unit) => {
    expect(best(fill(unit), 20)).toBeLessThan(20);
  });

  it.each([
    ['one text', `"${'a'.repeat(eightMiB - 2)}"`],
    ['one text of escapes', `"${'\\n'.repeat(eightMiB / 2 - 1)}"`],
    ['one text of escaped quotes', `"${'\\"'.repeat(eightMiB / 2 - 1)}"`],
    ['one text of backslashes that never ends', `"${'\\'.repeat(eightMiB - 2)}"`],
    ['one text of surrogate pairs', `"${'\\ud83d\\ude00'.repeat(Math.floor(eightMiB / 12) - 1)}"`],
    ['white space', ' '.repeat(eightMiB)],
    [
      '99,000 keys in one object',
      `{${Array.from({ length: 49_000 }, (_, at) => `"k${at}${'x'.repeat(150)}":1`).join(',')}}`,
    ],
  ])('scans within a fifth of a second: %s', (_what, text) => {
    expect(best(Buffer.from(text), 200)).toBeLessThan(200);
  });
});
