// Field kind `datetime`: an instant in RFC 3339 with any offset, stored in UTC to the millisecond.
import { asStored, type Kind, noFaults, type ParsedValue, pointsNowhere } from './kind.ts';

/** An instant from year 1 to year 9999 in UTC, which PostgreSQL, JavaScript and four digits can all express. */
export const datetime: Kind = {
  column: 'timestamptz(3)',
  cast: '::text::timestamptz',
  output: '::text',
  identity: '',
  comparable: 'datetime',
  isLowerCase: false,
  settings: ['unique', 'index'],
  settingFaults: noFaults,
  reader: () => readInstant,
  fromDatabase: instantFromDatabase,
  shown: asStored,
  pointsTo: pointsNowhere,
  typeScript: () => 'string',
  jsonSchema: () => ({ type: 'string', format: 'date-time' }),
};

/** https://www.rfc-editor.org/rfc/rfc3339#section-5.6 */
const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

const earliest = Date.parse('0001-01-01T00:00:00.000Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');
const day = 86_400_000;
/** The code of the digit 0. */
const zero = 0x30;

/** The form that most programs send, that of `toISOString`. */
const canonical = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Reads an instant; the value of the result is its text in UTC with milliseconds. */
export function readInstant(value: unknown): ParsedValue {
  return typeof value === 'string' && canonical.test(value) && isInstant(value)
    ? { value }
    : readAnyInstant(value);
}

/** True when a text of that form is a day and a time of day. To make a `Date` and write it again takes ten times as long. */
function isInstant(text: string): boolean {
  const [month, date] = [twoDigits(text, 5), twoDigits(text, 8)];
  const isDay = month >= 1 && month <= 12 && date >= 1 &&
    date <= daysIn(month, twoDigits(text, 0) * 100 + twoDigits(text, 2));
  return isDay && twoDigits(text, 11) < 24 && twoDigits(text, 14) < 60 && twoDigits(text, 17) < 60;
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - zero) * 10 + text.charCodeAt(at + 1) - zero;
}

/** The number of days of a month in the Gregorian calendar, also before it was introduced (RFC 3339, appendix C). */
function daysIn(month: number, year: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

function readAnyInstant(value: unknown): ParsedValue {
  const refused = { reason: 'must be a date and time as in RFC 3339, such as 2026-01-02T03:04:05.678Z' };
  const match = typeof value === 'string' ? rfc3339.exec(value) : null;
  if (match === null) return refused;
  const [year, month, date, hour, minute, second] = match.slice(1, 7).map(Number) as Six;
  const [offsetHour, offsetMinute] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return refused;
  const local = new Date(0);
  // Not Date.UTC, which takes years below 100 for those of the twentieth century.
  local.setUTCFullYear(year, month - 1, date);
  if (local.getUTCMonth() !== month - 1 || local.getUTCDate() !== date) return refused;
  const milliseconds = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const sign = match[8] === '-' ? -1 : 1;
  const instant = local.setUTCHours(hour, minute, second, milliseconds) -
    sign * (offsetHour * 60 + offsetMinute) * 60_000;
  // A leap second is the last second of a day in UTC. It becomes the first moment of the next day.
  if (second === 60 && modulo(instant, day) >= 1_000) return refused;
  if (instant < earliest || instant > latest) return refused;
  return { value: new Date(instant).toISOString() };
}

type Six = [number, number, number, number, number, number];

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}

/** A buffer for the result, whose digits are overwritten each time. */
const shown = Buffer.from('0000-00-00T00:00:00.000Z');
const [pointAt, zoneAt, timeAt] = [19, 23, 10];

/**
 * PostgreSQL's text of an instant in UTC, `2026-01-02 03:04:05.67+00`, as responses show it. Every connection has
 * `TimeZone` UTC and `DateStyle` ISO. To parse a `Date` costs ten times as much and loses years below 100. The text is
 * written as bytes, since V8 keeps a concatenation as its parts, which `JSON.stringify` takes twice as long for.
 */
export function instantFromDatabase(value: unknown): string {
  const text = String(value);
  for (let at = 0; at < pointAt; at++) if (at !== timeAt) shown[at] = text.charCodeAt(at);
  // A fraction may be short or missing. In its place stands the offset, whose digits are zeros.
  for (let at = pointAt + 1; at < zoneAt; at++) shown[at] = Math.max(zero, text.charCodeAt(at) || zero);
  return shown.toString('latin1');
}
