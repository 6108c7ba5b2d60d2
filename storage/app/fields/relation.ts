// Field kind `relation`: the id of a record of the target collection.
import type { Kind } from './kind.ts';
import { idReader, referenceKind } from './references.ts';

/** A reference to a record. That the target collection exists is checked with the app's other collections. */
export const relation: Kind = {
  ...referenceKind,
  settings: ['target', 'many', 'cascade_delete', 'unique', 'index'],
  settingFaults: ({ target }) =>
    target === undefined ? [{ setting: 'target', reason: 'must name the collection that it points to' }] : [],
  reader: () => idReader('record'),
  pointsTo: ({ target }) => target,
};
