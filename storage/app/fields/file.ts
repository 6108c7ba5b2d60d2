// Field kind `file`: the id of a stored file.
import { isUuid } from '../../sql/ids.ts';
import { type Kind, noFaults } from './kind.ts';

/** A file's id. */
export const file: Kind = {
  column: 'uuid',
  cast: '::uuid',
  output: '',
  comparable: 'uuid',
  settings: ['unique', 'index'],
  faultsOf: noFaults,
  reader: () => (value) =>
    typeof value === 'string' && isUuid(value)
      ? { value: value.toLowerCase() }
      : { reason: 'must be the id (UUID) of a file' },
};
