// Field kind `bool`: true or false.
import { type Kind, noFaults, pointsNowhere } from './kind.ts';

/** A truth value. */
export const bool: Kind = {
  column: 'boolean',
  // Through text: the driver gives a boolean another parameter type than a null, and so a statement of its own.
  cast: '::text::boolean',
  output: '',
  comparable: 'boolean',
  isLowerCase: false,
  settings: ['index'],
  settingFaults: noFaults,
  reader: () => (value) =>
    typeof value === 'boolean' ? { value: String(value) } : { reason: 'must be true or false' },
  fromDatabase: undefined,
  shown: (stored) => stored === 'true',
  pointsTo: pointsNowhere,
  hookType: () => 'boolean',
};
