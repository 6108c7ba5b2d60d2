// Field kind `url`: an http or https address, stored as it was sent.
import type { Field } from '../../definition.ts';
import type { Kind, ParsedValue } from './kind.ts';
import { readString, stringKind } from './strings.ts';

/** A web address. */
export const url: Kind = {
  ...stringKind,
  jsonSchema: (field) => ({ ...stringKind.jsonSchema(field), format: 'uri', pattern: plain.source }),
  reader: (field) => (value) => read(value, field),
};

/** The URL parser ignores white space, control characters, backslashes and a third slash. A stored address has none. */
// deno-lint-ignore no-control-regex
const plain = /^https?:\/\/(?!\/)[^\s\\\u0000-\u001f\u007f]+$/i;

function read(value: unknown, field: Field): ParsedValue {
  const reading = readString(value, field);
  if ('reason' in reading) return reading;
  const text = String(reading.value);
  return plain.test(text) && URL.canParse(text) ? reading : { reason: 'must be an http or https URL' };
}
