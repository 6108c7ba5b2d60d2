// Validates the cron expressions of jobs at their registration, so that an error names the line.

/** One field: its name in messages, its bounds, and the words for the numbers from `low` on. */
interface CronField {
  readonly name: string;
  readonly low: number;
  readonly high: number;
  readonly words: readonly string[];
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const second: CronField = { name: 'second', low: 0, high: 59, words: [] };
const day: CronField = { name: 'day', low: 1, high: 31, words: [] };
const month: CronField = { name: 'month', low: 1, high: 12, words: months };
const weekday: CronField = { name: 'weekday', low: 0, high: 7, words: weekdays };
const fields: readonly CronField[] = [
  { name: 'minute', low: 0, high: 59, words: [] },
  { name: 'hour', low: 0, high: 23, words: [] },
  day,
  month,
  weekday,
];
const nicknames = /^@(hourly|daily|weekly|monthly|yearly|annually)$/i;
const daysOfMonth = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Validates `minute hour day month weekday`, or six fields with seconds first. The API computes the times; it understands
 * every expression that passes here.
 *
 * @throws Error naming what is wrong with the expression
 */
export function checkCronExpression(expression: string): void {
  const text = expression.trim();
  if (nicknames.test(text)) return;
  const parts = text.split(/\s+/);
  const wanted = parts.length === 6 ? [second, ...fields] : fields;
  const refuse = (reason: string): never => {
    throw new Error(`cron expression ${JSON.stringify(expression)}: ${reason}`);
  };
  if (parts.length !== wanted.length) refuse('needs 5 fields, or 6 with seconds first');
  wanted.forEach((field, index) => {
    const fault = fieldFault(parts[index] ?? '', field);
    if (fault !== null) refuse(fault);
  });
  const [days = '', months = '', weekdays = ''] = parts.slice(-3);
  if (weekdays === '*' && !hasSuchDay(days, months)) refuse('there is no such day');
}

/** Describes what is wrong with one field; null when it is valid. */
function fieldFault(text: string, field: CronField): string | null {
  for (const part of text.split(',')) {
    if (parseBounds(part, field) === null) {
      const { name, low, high } = field;
      return `${JSON.stringify(part)} is no ${name} (${low} to ${high}, "*", ranges and steps)`;
    }
  }
  return null;
}

/** The first and last number of `*`, `5` or `1-5`, each with an optional step; null for anything else. */
function parseBounds(part: string, field: CronField): readonly [number, number] | null {
  const [, range = '', step] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
  const { low, high } = field;
  if (step !== undefined && (Number(step) < 1 || Number(step) > high - low)) return null;
  if (range === '*') return [low, high];
  const [from, to, ...more] = range.split('-').map((text) => parseNumber(text, field));
  if (from === undefined || from === null || to === null || more.length > 0) return null;
  // A step needs something to step through.
  if (to === undefined) return step === undefined ? [from, from] : null;
  return from <= to ? [from, to] : null;
}

function parseNumber(text: string, { low, high, words }: CronField): number | null {
  const word = words.indexOf(text.toUpperCase());
  const number = word === -1 ? (/^\d{1,2}$/.test(text) ? Number(text) : -1) : word + low;
  return number >= low && number <= high ? number : null;
}

/** True when one of the months has one of the days: `30 2` never occurs. */
function hasSuchDay(days: string, months: string): boolean {
  const firstDay = Math.min(...days.split(',').map((part) => parseBounds(part, day)?.[0] ?? Infinity));
  return daysOfMonth.some((length, index) =>
    firstDay <= length && months.split(',').some((part) => includesNumber(part, index + 1))
  );
}

function includesNumber(part: string, number: number): boolean {
  const [first, last] = parseBounds(part, month) ?? [Infinity, -Infinity];
  const step = Number(/\/(\d+)$/.exec(part)?.[1] ?? 1);
  return number >= first && number <= last && (number - first) % step === 0;
}
