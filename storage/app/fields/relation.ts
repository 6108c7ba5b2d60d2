// Field kind `relation`: the id of a record of the target collection; PostgreSQL sees to it that there is one.
import { isUuid } from '../../sql/ids.ts';
import type { Kind } from './kind.ts';

/** A reference. That the target exists is checked where the app's other collections are known. */
export const relation: Kind = {
  column: 'uuid',
  cast: '::uuid',
  output: '',
  comparable: 'uuid',
  settings: ['target', 'cascade_delete', 'unique', 'index'],
  faultsOf: ({ target }) =>
    target === undefined ? [{ setting: 'target', reason: 'must name the collection that it points to' }] : [],
  reader: () => (value) =>
    typeof value === 'string' && isUuid(value)
      ? { value: value.toLowerCase() }
      : { reason: 'must be the id (UUID) of a record' },
};
