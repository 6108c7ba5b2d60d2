// Random values, few of each type, so that they meet.
import fc from 'fast-check';

const texts = [
  '',
  'a',
  'A',
  'ab',
  'b',
  'é',
  'É',
  'İ',
  'i',
  'ı',
  'ß',
  'ς',
  'ΟΔΟΣ',
  'οδος',
  '%',
  'a%b',
  '\\%',
  '\\',
  '_',
  'a_b',
  '!',
  "it's",
  '"',
  '5',
  'true',
  '\uFFFD',
  '😀',
  '2026-01-02T03:04:05.678Z',
  '019b1f2e-0000-7000-8000-00000000000a',
] as const;
/** Numbers that a double cannot hold, as JSON or a body may have them. */
export const exact = ['9007199254740993', '0.1000000000000000055', '-1e-320', '-00009007199254740993.0'];
const numbers = [0, -0, 1, 5, -1, 0.1, 1.5, 1e308, 5e-324, 9007199254740993];
/** Options of selects that hold many. */
export const tags = ['a', 'A', 'ab', 'é', '5'];
const instants = [
  '2026-01-02T03:04:05.678Z',
  '2026-01-02T03:04:05.679Z',
  '0001-01-01T00:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
];
/** Ids that everything random refers to. */
export const uuids = ['a', 'b', 'c'].map((digit) => `019b1f2e-0000-7000-8000-00000000000${digit}`);
/** The options of the `select` field. */
export const states = ['draft', 'public'];

/** A text of few. */
export const text = fc.constantFrom(...texts);
/** A number of few. */
export const number = fc.constantFrom(...numbers);
/** An instant of few. */
export const instant = fc.constantFrom(...instants);
/** One of the ids. */
export const uuid = fc.constantFrom(...uuids);
/** A number that a double cannot hold. */
export const exactNumber = fc.constantFrom(...exact);
/** A value in JSON that is no array or object. */
export const scalar = fc.oneof(
  text,
  number,
  fc.constantFrom(...exact.slice(0, 3)).map(JSON.rawJSON),
  fc.boolean(),
  fc.constant(null),
);
/** Any JSON. */
export const json = fc.oneof(
  scalar,
  fc.record(
    { a: scalar, b: fc.record({ c: scalar }), list: fc.array(scalar, { maxLength: 3 }), '0': scalar },
    { requiredKeys: [] },
  ),
  fc.array(fc.oneof(scalar, fc.record({ a: scalar })), { maxLength: 3 }),
);

/** The value, or null. */
export function maybe<Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  return fc.option(value, { freq: 3 });
}
