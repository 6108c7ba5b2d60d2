// Turns the members of a body into values that can be stored. One error names everything that is wrong.
import type { StoredValue } from '../../../storage/app/fields/kind.ts';
import { numberingOf } from '../../../storage/app/fields/autonumber.ts';
import { isUuid } from '../../../storage/sql/ids.ts';
import type { RecordPlan } from '../../../storage/app/records/plan.ts';
import type { PlannedField } from '../../../storage/app/records/planned-field.ts';
import { failValidation, type FieldError, reasons } from '../../errors.ts';
import { type Credentials, memberRefusal, ownMember, readCredentials } from './credentials.ts';
import { refuseTooLong } from './length.ts';

/** Field values and, on a create, `id`, as a caller sent them. */
export type RecordInput = Readonly<Record<string, unknown>>;

/** The values of an update: positions in the plan and the new values, side by side. */
export interface ChangedValues {
  positions: number[];
  values: (StoredValue | null)[];
}

const reportedMembers = 100;
const reportedLength = 100;

/** The values of a create. */
export interface NewValues {
  /** Undefined when the caller chose none. */
  id: string | undefined;
  /** In the order of the plan. */
  values: (StoredValue | null)[];
  /** Names of the fields that have their default. */
  defaulted: string[];
  /** Of a profile. */
  credentials: Credentials | undefined;
}

const newMembers = ['id'];
const newMembersOfProfile = ['id', 'email', 'password'];

/** The values of a new record. Throws `400 validation`. */
export function readNewValues(plan: RecordPlan, input: RecordInput): NewValues {
  const errors = unknownMembers(plan, input, plan.isProfile ? newMembersOfProfile : newMembers);
  const credentials = plan.isProfile ? readCredentials(input, errors) : undefined;
  const values: (StoredValue | null)[] = [];
  const defaulted: string[] = [];
  for (const planned of plan.fields) {
    const { name } = planned.field;
    const given = ownMember(input, name);
    if (given === undefined && planned.fallback !== null) {
      values.push(planned.fallback);
      defaulted.push(name);
    } else values.push(read(planned, given, errors));
  }
  const id = ownMember(input, 'id');
  if (id === undefined || (typeof id === 'string' && isUuid(id))) {
    if (errors.length > 0) failValidation(errors);
    refuseTooLong(values);
    return { id: id?.toLowerCase(), values, defaulted, credentials };
  }
  failValidation([{ field: 'id', reason: 'must be a UUID' }, ...errors]);
}

/**
 * The values of an update, for the fields that the body has. Throws `400 validation`, with errors that are known already.
 */
export function readChangedValues(
  plan: RecordPlan,
  input: RecordInput,
  known: readonly FieldError[] = [],
): ChangedValues {
  const errors = [...known, ...unknownMembers(plan, input, [])];
  const changed: ChangedValues = { positions: [], values: [] };
  // In the order of the plan, so that the same fields in any order are the same statement.
  for (const [position, planned] of plan.fields.entries()) {
    const { name } = planned.field;
    const given = ownMember(input, name);
    if (given === undefined) continue;
    changed.positions.push(position);
    changed.values.push(read(planned, given, errors));
  }
  if (errors.length > 0) failValidation(errors);
  return changed;
}

/** Reads one value, and adds what is wrong with it to `errors`. */
function read(
  { field, read, empty }: PlannedField,
  value: unknown,
  errors: FieldError[],
): StoredValue | null {
  const isNumbered = numberingOf(field) !== undefined;
  if (value === undefined || value === null && !isNumbered) {
    if (field.required === true && !isNumbered) errors.push({ field: field.name, reason: reasons.required });
    return empty;
  }
  const reading = read(value);
  if ('value' in reading) return reading.value;
  errors.push({ field: field.name, reason: reading.reason });
  return null;
}

function unknownMembers(plan: RecordPlan, input: RecordInput, known: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of Object.keys(input)) {
    if (known.includes(name) || plan.fieldPosition(name) !== undefined) continue;
    const reason = plan.isProfile ? memberRefusal(name) : undefined;
    errors.push({ field: name.slice(0, reportedLength), reason: reason ?? reasons.unknown });
    // The response to a body of nothing but unknown fields need not be as long as the body.
    if (errors.length === reportedMembers) break;
  }
  return errors;
}
