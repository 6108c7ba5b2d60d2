// Field kind `text`: any well-formed text; `min` and `max` are lengths in characters.
import type { Kind } from './kind.ts';
import { lengthFaults, readText } from './strings.ts';

/** Text of any length. */
export const text: Kind = {
  column: 'text collate "C"',
  cast: '::text',
  output: '',
  comparable: 'text',
  settings: ['min', 'max', 'unique', 'index'],
  faultsOf: lengthFaults,
  reader: (field) => (value) => readText(value, field),
};
