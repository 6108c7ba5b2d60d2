// What the kinds that hold the id of a row share: the column, and how an id is read.
import { isUuid } from '../../sql/ids.ts';
import { asStored, type Kind, type ValueReader } from './kind.ts';

/** Everything but what the id is of. PostgreSQL sees to it that the row exists. */
export const referenceKind: Omit<Kind, 'settings' | 'settingFaults' | 'reader' | 'pointsTo'> = {
  column: 'uuid',
  cast: '::uuid',
  output: '',
  comparable: 'uuid',
  isLowerCase: false,
  fromDatabase: undefined,
  shown: asStored,
  hookType: () => 'string',
};

/** Reads the ids of rows that errors call by a `noun`. */
export function idReader(noun: string): ValueReader {
  return (value) =>
    typeof value === 'string' && isUuid(value)
      ? { value: value.toLowerCase() }
      : { reason: `must be the id (UUID) of a ${noun}` };
}
