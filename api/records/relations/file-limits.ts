// The limits of fields that hold files: the size and the media type.
import { fileFault } from '../../../storage/app/fields/file.ts';
import { describeFiles } from '../../../storage/app/files.ts';
import type { StoredValue } from '../../../storage/app/fields/kind.ts';
import type { Field } from '../../../storage/definition.ts';
import { parseArray } from '../../../storage/sql/text-array.ts';
import { failValidation } from '../../errors.ts';
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
  const held = positions.flatMap((position, index) => {
    const field = plan.fields[position]?.field;
    if (field === undefined || field.max_size === undefined && field.mime === undefined) return [];
    return idsIn(field, values[index] ?? null)
      .filter((id) => mayRead(field.name, id)).map((id) => ({ field, id }));
  });
  if (held.length === 0) return;
  const files = await connection.run((sql) => describeFiles(sql, app.schema, held.map(({ id }) => id)));
  const errors = held.flatMap(({ field, id }) => {
    const file = files.get(id);
    const reason = file === undefined ? undefined : fileFault(field, file);
    return reason === undefined ? [] : [{ field: field.name, reason }];
  });
  if (errors.length > 0) failValidation(errors.slice(0, 100));
}

function idsIn({ many }: Field, value: StoredValue | null): string[] {
  if (value === null) return [];
  return many === true ? parseArray(String(value)) : [String(value)];
}
