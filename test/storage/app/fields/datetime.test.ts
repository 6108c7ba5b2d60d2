// Instants in the form that programs send most, held against what JavaScript reads of them.
import { assert, constantFrom, integer, oneof, property, tuple } from 'fast-check';
import { expect, it } from 'vitest';
import { datetime } from '../../../../storage/app/fields/datetime.ts';

const read = datetime.reader({ name: 'at', kind: 'datetime' });
const padded = (value: number, length: number) => String(value).padStart(length, '0');

/** As a `Date` has it, and writes it. */
function isWritten(text: string): boolean {
  const instant = new Date(text);
  return !Number.isNaN(instant.getTime()) && instant.toISOString() === text;
}

const years = oneof(
  integer({ min: 0, max: 9_999 }),
  constantFrom(0, 1, 4, 100, 400, 1900, 1970, 2000, 2024, 2100, 9_999),
);
const instants = tuple(
  years,
  integer({ min: 0, max: 14 }),
  integer({ min: 0, max: 33 }),
  integer({ min: 0, max: 26 }),
  integer({ min: 0, max: 62 }),
  integer({ min: 0, max: 62 }),
  integer({ min: 0, max: 999 }),
).map(([year, month, day, hour, minute, second, milliseconds]) =>
  `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}T${padded(hour, 2)}:${padded(minute, 2)}:` +
  `${padded(second, 2)}.${padded(milliseconds, 3)}Z`
);

it('takes exactly the instants there are as they are', () => {
  assert(
    property(instants, (text) => {
      const reading = read(text);
      const isTaken = 'value' in reading && reading.value === text;
      expect(isTaken, text).toBe(isWritten(text) && !text.startsWith('0000'));
    }),
    { numRuns: 20_000 },
  );
});

it('knows every day of the calendar', () => {
  for (const year of [1, 4, 100, 400, 1900, 2000, 2023, 2024, 2100, 9_999]) {
    for (let month = 1; month <= 12; month++) {
      for (let day = 28; day <= 32; day++) {
        const text = `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}T00:00:00.000Z`;
        expect('value' in read(text), text).toBe(isWritten(text));
      }
    }
  }
});
