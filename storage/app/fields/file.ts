// Field kind `file`: the id of a stored file.
import { filesId } from '../../definition.ts';
import { type Kind, noFaults } from './kind.ts';
import { idReader, referenceKind } from './references.ts';

/** A reference to a file. */
export const file: Kind = {
  ...referenceKind,
  settings: ['many', 'unique', 'index'],
  settingFaults: noFaults,
  reader: () => idReader('file'),
  pointsTo: () => filesId,
};
