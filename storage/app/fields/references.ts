// The common part of the kinds that hold the id of a row: the column, and how an id is checked.
import { isUuid } from '../../sql/ids.ts';
import { asStored, type Kind, type ValueReader } from './kind.ts';

/** Everything but what the id is of. A foreign key ensures that the row exists. */
export const referenceKind: Omit<Kind, 'settings' | 'settingFaults' | 'reader' | 'pointsTo'> = {
  column: 'uuid',
  cast: '::uuid',
  output: '',
  identity: '',
  comparable: 'uuid',
  isLowerCase: false,
  fromDatabase: undefined,
  shown: asStored,
  typeScript: () => 'string',
  jsonSchema: () => ({ type: 'string', format: 'uuid' }),
};

/** Checks the ids of rows that error messages call `noun`. */
export function idReader(noun: string): ValueReader {
  return (value) =>
    typeof value === 'string' && isUuid(value)
      ? { value: value.toLowerCase() }
      : { reason: `must be the id (UUID) of a ${noun}` };
}
