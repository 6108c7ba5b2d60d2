// The common part of the kinds that hold strings: well-formed text, bounds in characters, and what an index can hold.
import { hasCharacters, textFault } from '../../sql/characters.ts';
import type { Field } from '../../definition.ts';
import { asStored, boundsAs, type Kind, type ParsedValue, pointsNowhere, type SettingFault } from './kind.ts';

/**
 * A B-tree entry must fit a third of a page, even if it does not compress
 * (https://www.postgresql.org/docs/18/btree.html).
 */
const indexableBytes = 2_600;

const maxTextLength = 1_000_000_000;

/** Checks a string but for its content. */
export function readString(value: unknown, { min, max, unique, index }: Field): ParsedValue {
  if (typeof value !== 'string') return { reason: 'must be a string' };
  const fault = textFault(value);
  if (fault !== undefined) return { reason: fault };
  if (min !== undefined && !hasCharacters(value, min)) {
    return { reason: `must have at least ${min} characters` };
  }
  if (max !== undefined && hasCharacters(value, max + 1)) {
    return { reason: `must have at most ${max} characters` };
  }
  const indexed = unique === true || index === true;
  if (indexed && value.length * 3 > indexableBytes && Buffer.byteLength(value) > indexableBytes) {
    return { reason: `must have at most ${indexableBytes} bytes, because the field is unique or indexed` };
  }
  return { value };
}

/** The faults of length bounds, which are whole numbers from 0, in order. */
function lengthFaults({ min, max }: Field): SettingFault[] {
  const faults: SettingFault[] = [];
  for (const [setting, bound] of [['min', min], ['max', max]] as const) {
    if (bound !== undefined && !(Number.isInteger(bound) && bound >= 0 && bound <= maxTextLength)) {
      faults.push({ setting, reason: 'must be a whole number of characters from 0' });
    }
  }
  if (faults.length === 0 && min !== undefined && max !== undefined && min > max) {
    faults.push({ setting: 'min', reason: 'must not be greater than max' });
  }
  return faults;
}

/** Everything but how values are checked. */
export const stringKind: Omit<Kind, 'reader'> = {
  column: 'text collate "C"',
  cast: '::text',
  output: '',
  identity: '',
  comparable: 'text',
  isLowerCase: false,
  settings: ['min', 'max', 'unique', 'index'],
  settingFaults: lengthFaults,
  fromDatabase: undefined,
  shown: asStored,
  pointsTo: pointsNowhere,
  typeScript: () => 'string',
  jsonSchema: (field) => ({ type: 'string', ...boundsAs(field, ['minLength', 'maxLength']) }),
};
