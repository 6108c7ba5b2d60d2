// From a body's members to values that can be stored; everything that is wrong is said at once.
import type { Stored } from '../../storage/fields/kind.ts';
import { isUuid } from '../../storage/ids.ts';
import type { PlannedField, RecordPlan } from '../../storage/record-plan.ts';
import { failValidation, type FieldError } from '../errors.ts';

/** Field values and, on a create, `id`, as a caller sent them. */
export type RecordInput = Readonly<Record<string, unknown>>;

/** What an update changes: positions in the plan and the new values, side by side. */
export interface ChangedValues {
  positions: number[];
  values: (Stored | null)[];
}

const reportedMembers = 100;
const reportedLength = 100;

/** The values of a new record in the plan's order, and its id when the caller chose one. Throws `400 validation`. */
export function valuesOfNew(
  plan: RecordPlan,
  input: RecordInput,
): { id: string | undefined; values: (Stored | null)[] } {
  const errors = unknownMembers(plan, input, 'id');
  const values: (Stored | null)[] = [];
  for (const planned of plan.fields) {
    const { name } = planned.field;
    const given = Object.hasOwn(input, name) ? input[name] : undefined;
    values.push(
      given === undefined && planned.fallback !== null ? planned.fallback : read(planned, given, errors),
    );
  }
  const id = Object.hasOwn(input, 'id') ? input['id'] : undefined;
  if (id === undefined || (typeof id === 'string' && isUuid(id))) {
    if (errors.length > 0) failValidation(errors);
    return { id: id?.toLowerCase(), values };
  }
  failValidation([{ field: 'id', reason: 'must be a UUID' }, ...errors]);
}

/** The values that an update changes; what is left out stays. Throws `400 validation`. */
export function valuesOfChange(plan: RecordPlan, input: RecordInput): ChangedValues {
  const errors = unknownMembers(plan, input, undefined);
  const changed: ChangedValues = { positions: [], values: [] };
  // In the order of the plan, so that the same fields in any order are the same statement.
  for (const [position, planned] of plan.fields.entries()) {
    const { name } = planned.field;
    if (!Object.hasOwn(input, name) || input[name] === undefined) continue;
    changed.positions.push(position);
    changed.values.push(read(planned, input[name], errors));
  }
  if (errors.length > 0) failValidation(errors);
  return changed;
}

/** One value; what is wrong with it is added to `errors`. */
function read({ field, read }: PlannedField, value: unknown, errors: FieldError[]): Stored | null {
  if (value === undefined || value === null) {
    if (field.required === true) errors.push({ field: field.name, reason: 'is required' });
    return null;
  }
  const reading = read(value);
  if ('value' in reading) return reading.value;
  errors.push({ field: field.name, reason: reading.reason });
  return null;
}

function unknownMembers(plan: RecordPlan, input: RecordInput, known: string | undefined): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of Object.keys(input)) {
    if (name === known || plan.positionOf(name) !== undefined) continue;
    errors.push({ field: name.slice(0, reportedLength), reason: 'unknown field' });
    // The answer to a body of nothing but nonsense need not be as long as the body.
    if (errors.length === reportedMembers) break;
  }
  return errors;
}
