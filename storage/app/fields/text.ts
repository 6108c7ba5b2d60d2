// Field kind `text`: any well-formed text; `min` and `max` are lengths in characters.
import type { Kind } from './kind.ts';
import { readString, stringKind } from './strings.ts';

/** Text of any length. */
export const text: Kind = {
  ...stringKind,
  settings: [...stringKind.settings, 'search'],
  reader: (field) => (value) => readString(value, field),
};
