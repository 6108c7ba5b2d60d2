// Field kind `number`: a finite double; `min` and `max` are values.
import type { Field } from '../../definition.ts';
import { toDouble } from '../../sql/exact-number.ts';
import { numberingOf } from './autonumber.ts';
import { asStored, boundsAs, type Kind, type ParsedValue, pointsNowhere, type SettingFault } from './kind.ts';

/** A finite IEEE 754 double. */
export const number: Kind = {
  column: 'double precision',
  cast: '::double precision',
  output: '',
  identity: '',
  comparable: 'number',
  isLowerCase: false,
  settings: ['min', 'max', 'unique', 'index', 'autonumber'],
  settingFaults,
  reader: (field) =>
    numberingOf(field) === undefined ? (value) => read(value, field) : () => ({ reason: notGiven }),
  fromDatabase: undefined,
  shown: asStored,
  pointsTo: pointsNowhere,
  typeScript: () => 'number',
  jsonSchema: (field) => ({
    type: numberingOf(field) === undefined ? 'number' : 'integer',
    ...boundsAs(field, ['minimum', 'maximum']),
  }),
};

const notGiven = 'is given by the server';
const digits = /^-?\d+$/;

/** Rounds decimals, as everybody expects of a double, but no whole number: it may be an id. */
function read(given: unknown, { min, max }: Field): ParsedValue {
  const isExact = JSON.isRawJSON(given);
  if (isExact && digits.test(given.rawJSON)) {
    return { reason: 'must be a number that a double can hold; a json or text field keeps more digits' };
  }
  const value = isExact ? toDouble(given) : given;
  if (typeof value !== 'number' || !Number.isFinite(value)) return { reason: 'must be a number' };
  if (min !== undefined && value < min) return { reason: `must be at least ${min}` };
  if (max !== undefined && value > max) return { reason: `must be at most ${max}` };
  return { value };
}

function settingFaults(field: Field): SettingFault[] {
  const { min, max } = field;
  if (numberingOf(field) !== undefined) {
    const settings = (['min', 'max', 'unique'] as const).filter((setting) =>
      field[setting] !== undefined && field[setting] !== false
    );
    return settings.map((setting) => ({ setting, reason: 'cannot be set beside autonumber' }));
  }
  return min !== undefined && max !== undefined && min > max
    ? [{ setting: 'min', reason: 'must not be greater than max' }]
    : [];
}
