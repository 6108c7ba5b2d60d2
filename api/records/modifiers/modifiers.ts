// Members of an update that say how a field changes from what it is: `count+`, `count-`, `tags+`, `tags-`.
import { kindOf } from '../../../storage/app/fields/kinds.ts';
import { formatArray, parseArray } from '../../../storage/sql/text-array.ts';
import type { Field } from '../../../storage/definition.ts';
import type { RecordPlan, StoredRecord } from '../../../storage/app/records/plan.ts';
import type { FieldError } from '../../errors.ts';
import type { ChangedValues, RecordInput } from '../input/values.ts';

/** How one field changes. */
interface Modifier {
  name: string;
  isAdded: boolean;
  /** Items of a field that holds many. */
  operand: number | readonly string[];
}

/** An input without its modifiers, and these. */
export interface SplitInput {
  plain: RecordInput;
  modifiers: readonly Modifier[];
  errors: FieldError[];
}

const modified = /^(\w+)([+-])$/;

/** The most items that one modifier adds or takes away. */
const maxItems = 1_000;

/** True when an input may have modifiers. No field has a name that ends so. */
export function hasModifiers(input: RecordInput): boolean {
  return Object.keys(input).some((name) => name.endsWith('+') || name.endsWith('-'));
}

/** Splits an input. Members that modify no field stay in it, where they are unknown fields. */
export function splitModifiers(plan: RecordPlan, input: RecordInput): SplitInput {
  const plain: Record<string, unknown> = {};
  const modifiers: Modifier[] = [];
  const errors: FieldError[] = [];
  for (const [member, value] of Object.entries(input)) {
    const [, name = '', sign] = modified.exec(member) ?? [];
    const field = plan.fields[plan.fieldPosition(name) ?? -1]?.field;
    if (field === undefined) {
      plain[member] = value;
      continue;
    }
    const operand = Object.hasOwn(input, name)
      ? { reason: `cannot stand beside "${name}"` }
      : readOperand(field, value);
    if ('reason' in operand) errors.push({ field: member, reason: operand.reason });
    else modifiers.push({ name, isAdded: sign === '+', operand: operand.value });
  }
  return { plain, modifiers, errors };
}

/** Without the modifiers of these fields. */
export function withoutModifiersOf(input: RecordInput, names: ReadonlySet<string>): RecordInput {
  if (!hasModifiers(input)) return input;
  return Object.fromEntries(
    Object.entries(input).filter(([member]) => !names.has(modified.exec(member)?.[1] ?? '')),
  );
}

/** The values of the modified fields, made of those that a record has. They may be beyond the limits of the fields. */
export function modifiedValues(
  { fields }: StoredRecord,
  modifiers: readonly Modifier[],
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { name, isAdded, operand } of modifiers) {
    const value = values[name] ?? fields[name];
    values[name] = typeof operand === 'number'
      ? (typeof value === 'number' ? value : 0) + (isAdded ? operand : -operand)
      : changedItems(Array.isArray(value) ? value : [], isAdded, operand);
  }
  return values;
}

/** The items that modifiers add to fields of many, as values to store. */
export function addedItems(plan: RecordPlan, modifiers: readonly Modifier[]): ChangedValues {
  const added: ChangedValues = { positions: [], values: [] };
  for (const { name, isAdded, operand } of modifiers) {
    const position = plan.fieldPosition(name);
    if (!isAdded || typeof operand === 'number' || position === undefined) continue;
    added.positions.push(position);
    added.values.push(formatArray(operand));
  }
  return added;
}

function changedItems(items: readonly unknown[], isAdded: boolean, operand: readonly string[]): unknown[] {
  return isAdded
    ? [...items, ...operand.filter((item) => !items.includes(item))]
    : items.filter((item) => typeof item !== 'string' || !operand.includes(item));
}

function readOperand(field: Field, value: unknown): { value: Modifier['operand'] } | { reason: string } {
  const { name, kind, options, many } = field;
  if (many !== true && kind !== 'number') {
    return { reason: `is for number fields and fields of many, and "${name}" is neither` };
  }
  // The limits are those of the result.
  const unlimited: Field = { name, kind, options, many, ...many === true && { max: maxItems } };
  const reading = kindOf(unlimited).reader(unlimited)(
    many !== true || Array.isArray(value) ? value : [value],
  );
  if ('reason' in reading) return reading;
  return { value: typeof reading.value === 'number' ? reading.value : parseArray(reading.value) };
}
