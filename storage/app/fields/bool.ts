// Field kind `bool`: true or false.
import { type Kind, noFaults, pointsNowhere } from './kind.ts';

/** A truth value. */
export const bool: Kind = {
  column: 'boolean',
  // Through text: the driver sends a boolean with another parameter type than a null, which would be another statement.
  cast: '::text::boolean',
  output: '',
  identity: '',
  comparable: 'boolean',
  isLowerCase: false,
  settings: ['index'],
  settingFaults: noFaults,
  reader: () => (value) =>
    typeof value === 'boolean' ? { value: String(value) } : { reason: 'must be true or false' },
  fromDatabase: undefined,
  shown: (stored) => stored === 'true',
  pointsTo: pointsNowhere,
  typeScript: () => 'boolean',
  jsonSchema: () => ({ type: 'boolean' }),
};
