// Rows that are not read from the table of their collection, as a source that conditions can test.
import { quoteIdentifier } from '../../sql/quote.ts';
import { kindOf } from '../fields/kinds.ts';
import type { PlannedField } from './planned-field.ts';
import { recordAlias } from './restriction.ts';

/**
 * The source for a test of an insert's parameters before they are stored: a row with the types of the columns, whose
 * values are rounded as they will be.
 */
export function candidateOfParameters(fields: readonly PlannedField[]): string {
  return rowSource(fields, (index) => `$${index + 3}`, ['$1', '$2', '$2']);
}

/** The same of a JSON array of texts, which has the id, the two times and the values of all fields. */
export function candidateOfJson(fields: readonly PlannedField[], array: string): string {
  const item = (index: number) => `(${array} ->> ${index})`;
  return rowSource(fields, (index) => item(index + 3), [item(0), item(1), item(2)]);
}

function rowSource(
  fields: readonly PlannedField[],
  value: (index: number) => string,
  [id, created, updated]: readonly [string, string, string],
): string {
  const values = fields.map(({ field }, index) => {
    const { cast, column } = kindOf(field);
    return `, ${value(index)}${cast}::${column} as ${quoteIdentifier(field.name)}`;
  }).join('');
  const time = '::text::timestamptz(3)';
  return `(select ${id}::uuid as "id", ${created}${time} as "created_at", ${updated}${time} as "updated_at"` +
    `${values}) as ${quoteIdentifier(recordAlias)}`;
}
