// The difference between a stored record and the values that an update gives it.
import { quoteIdentifier } from '../../sql/quote.ts';
import { kindOf } from '../fields/kinds.ts';
import type { PlannedField } from './planned-field.ts';

/**
 * The condition that a record has another value than the parameters from `firstParameter` on, in any of the fields at these
 * positions.
 */
export function differsSql(
  fields: readonly PlannedField[],
  positions: readonly number[],
  firstParameter: number,
): string {
  const differences = positions.flatMap((position, index) => {
    const planned = fields[position];
    if (planned === undefined) return [];
    const { name } = planned.field;
    const { cast, identity } = kindOf(planned.field);
    return [
      `${quoteIdentifier(name)}${identity} is distinct from $${index + firstParameter}${cast}${identity}`,
    ];
  });
  return `(${['false', ...differences].join(' or ')})`;
}
