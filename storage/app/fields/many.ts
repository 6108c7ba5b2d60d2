// Fields that hold many values of their kind (`many: true`): an array without duplicates, in the order of its writer.
import type { Field } from '../../definition.ts';
import { formatArray, parseArray } from '../../sql/text-array.ts';
import {
  boundsAs,
  type FieldSetting,
  type Kind,
  type ParsedValue,
  type SettingFault,
  type ValueReader,
} from './kind.ts';

/** Most items of a field whose declaration has no `max`. */
const defaultMaxItems = 100;
/** The most that a declaration may allow. */
const maxItems = 1_000;

/** What an empty field of many holds: it is never null. */
export const noItems = '{}';

/** The number of items that a deletion of what they point to leaves at least. */
export function leastItems({ required }: Pick<Field, 'required'>): number {
  return required === true ? 1 : 0;
}

const known = new Map<Kind, Kind>();

/** The kind of a field that holds many values of a kind of texts or ids. */
export function manyOf(single: Kind): Kind {
  let kind = known.get(single);
  if (kind === undefined) known.set(single, kind = makeMany(single));
  return kind;
}

function makeMany(single: Kind): Kind {
  const column = single.column.replace(/^\w+/, '$&[]');
  const settings = single.settings.filter((setting) => setting !== 'unique');
  return {
    ...single,
    column,
    cast: `::text${single.cast}[]`,
    settings: [...settings, 'min', 'max'] satisfies FieldSetting[],
    settingFaults: (field) => [...single.settingFaults(field), ...countFaults(field)],
    reader: (field) => itemsReader(single.reader(field), field),
    // The driver reads arrays of texts and of ids.
    fromDatabase: undefined,
    shown: (stored) => parseArray(String(stored)),
    typeScript: (field) => `(${single.typeScript(field)})[]`,
    jsonSchema: (field) => ({
      type: 'array',
      items: single.jsonSchema({ ...field, min: undefined, max: undefined }),
      ...boundsAs({ min: leastOf(field), max: field.max ?? defaultMaxItems }, ['minItems', 'maxItems']),
    }),
  };
}

/** Items that are repeated count once, where they come first. */
function itemsReader(read: ValueReader, { min = 0, max = defaultMaxItems, required }: Field): ValueReader {
  return (value) => {
    if (!Array.isArray(value)) return { reason: 'must be an array' };
    const items = new Set<string>();
    for (const [index, given] of value.entries()) {
      const item: ParsedValue = read(given);
      if ('reason' in item) return { reason: `item ${index} ${item.reason}` };
      items.add(String(item.value));
      if (items.size > max) return { reason: `must have at most ${named(max)}` };
    }
    if (items.size === 0) {
      return required === true ? { reason: 'must have at least 1 item' } : { value: noItems };
    }
    return items.size < min
      ? { reason: `must have at least ${named(min)}` }
      : { value: formatArray([...items]) };
  };
}

/** An empty array passes where nothing is required, whatever `min` is. */
function leastOf({ min, required }: Field): number {
  return required === true ? Math.max(min ?? 0, 1) : 0;
}

function named(count: number): string {
  return count === 1 ? '1 item' : `${count} items`;
}

function countFaults({ min, max }: Field): SettingFault[] {
  const faults: SettingFault[] = [];
  for (const [setting, bound, least] of [['min', min, 0], ['max', max, 1]] as const) {
    if (bound !== undefined && !(Number.isInteger(bound) && bound >= least && bound <= maxItems)) {
      faults.push({ setting, reason: `must be a number of items from ${least} to ${maxItems}` });
    }
  }
  if (faults.length === 0 && (min ?? 0) > (max ?? defaultMaxItems)) {
    faults.push({ setting: 'min', reason: `must not be greater than max, ${max ?? defaultMaxItems}` });
  }
  return faults;
}
