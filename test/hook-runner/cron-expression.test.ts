// Cron expressions that the runner lets through, beside those that the scheduler understands.
import { Cron } from 'croner';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkCronExpression } from '../../hook-runner/cron-expression.ts';

it.each([
  '* * * * *',
  '*/5 0-6,22 1,15 JAN-MAR mon-fri',
  '* * * * * *',
  '10-50/10 0 3 * * 7',
  '@daily',
  '0 0 29 2 *',
  '0 0 30 2 MON',
])('takes %j', (expression) => {
  checkCronExpression(expression);
});

it.each([
  ['', 'needs 5 fields, or 6 with seconds first'],
  ['* * * *', 'needs 5 fields, or 6 with seconds first'],
  ['* * * * * * *', 'needs 5 fields, or 6 with seconds first'],
  ['60 * * * *', '"60" is no minute (0 to 59, "*", ranges and steps)'],
  ['* * 0 * *', '"0" is no day'],
  ['5-1 * * * *', '"5-1" is no minute'],
  ['5/10 * * * *', '"5/10" is no minute'],
  ['*/0 * * * *', '"*/0" is no minute'],
  ['* * * foo *', '"foo" is no month'],
  ['* * L * *', '"L" is no day'],
  ['1,, * * * *', '"" is no minute'],
  ['0 0 30 2 *', 'there is no such day'],
  ['0 0 31 4,6,9-11/2 *', 'there is no such day'],
  ['@fortnightly', 'needs 5 fields'],
])('refuses %j', (expression, reason) => {
  expect(() => checkCronExpression(expression)).toThrow(reason);
});

it('takes nothing that the scheduler does not understand, or that never comes', () => {
  const number = fc.nat({ max: 65 }).map(String);
  const part = fc.oneof(
    fc.constant('*'),
    number,
    fc.tuple(number, number).map((pair) => pair.join('-')),
    number.map((step) => `*/${step}`),
    fc.tuple(number, number, number).map(([from, to, step]) => `${from}-${to}/${step}`),
    fc.constantFrom('jan', 'SUN', 'MON-fri', 'L', '?', '5#2', '-', ''),
  );
  const field = fc.array(part, { minLength: 1, maxLength: 2 }).map((parts) => parts.join(','));
  const expressions = fc.array(fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, field), {
    minLength: 5,
    maxLength: 6,
  });
  let taken = 0;
  fc.assert(
    fc.property(expressions, (fields) => {
      const expression = fields.join(' ');
      try {
        checkCronExpression(expression);
      } catch {
        return;
      }
      taken++;
      expect(new Cron(expression, { paused: true, timezone: 'UTC' }).nextRun()).not.toBeNull();
    }),
    { numRuns: 2_000 },
  );
  expect(taken).toBeGreaterThan(50);
});
