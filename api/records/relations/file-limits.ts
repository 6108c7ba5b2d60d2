// The limits of fields that hold files: the size and the media type.
import { fileFault } from '../../../storage/app/fields/file.ts';
import { describeFiles } from '../../../storage/app/files.ts';
import type { StoredValue } from '../../../storage/app/fields/kind.ts';
import type { Field } from '../../../storage/definition.ts';
import { parseArray } from '../../../storage/sql/text-array.ts';
import type { RecordPlan } from '../../../storage/app/records/plan.ts';
import { failValidation, type FieldError } from '../../errors.ts';
import type { RecordScope } from '../collection.ts';

/** Values to store, by the positions of their fields. */
interface PositionedValues {
  positions: readonly number[];
  values: readonly (StoredValue | null)[];
}

/**
 * Throws `400 validation` for files that a field does not take. Of files that do not exist, or that `mayRead` refuses, nothing
 * is said.
 */
export async function refuseUnfitFiles(
  { plan, connection, target: { app } }: RecordScope,
  { positions, values }: PositionedValues,
  mayRead: (field: string, id: string) => boolean,
): Promise<void> {
  const held = limitedFiles(plan, { positions, values }).filter(({ field, id }) => mayRead(field.name, id));
  if (held.length === 0) return;
  const files = await connection.run((sql) => describeFiles(sql, app.schema, held.map(({ id }) => id)));
  const errors = fileErrors(held, files);
  if (errors.length > 0) failValidation(errors.slice(0, 100));
}

/** A file in a field that has limits. */
interface HeldFile {
  field: Field;
  id: string;
}

/** The files in fields that have limits. */
export function limitedFiles(plan: RecordPlan, { positions, values }: PositionedValues): HeldFile[] {
  return positions.flatMap((position, index) => {
    const field = plan.fields[position]?.field;
    if (field === undefined || field.max_size === undefined && field.mime === undefined) return [];
    return idsIn(field, values[index] ?? null).map((id) => ({ field, id }));
  });
}

/** What is wrong with files, of which nothing is said where they are not known. */
export function fileErrors(
  held: readonly HeldFile[],
  known: ReadonlyMap<string, { size: number; type: string }>,
): FieldError[] {
  return held.flatMap(({ field, id }) => {
    const file = known.get(id);
    const reason = file === undefined ? undefined : fileFault(field, file);
    return reason === undefined ? [] : [{ field: field.name, reason }];
  });
}

function idsIn({ many }: Field, value: StoredValue | null): string[] {
  if (value === null) return [];
  return many === true ? parseArray(String(value)) : [String(value)];
}
