// Field kind `email`: an address, compared and stored in lower case.
import type { Kind, ParsedValue } from './kind.ts';
import { readString, stringKind } from './strings.ts';
import type { Field } from '../../definition.ts';
import { addressFault, normalizeAddress } from '../../sql/email-address.ts';

/** An email address. */
export const email: Kind = {
  ...stringKind,
  isLowerCase: true,
  jsonSchema: (field) => ({ ...stringKind.jsonSchema(field), format: 'idn-email' }),
  reader: (field) => (value) => read(value, field),
};

function read(value: unknown, field: Field): ParsedValue {
  const reading = readString(value, field);
  if ('reason' in reading) return reading;
  const text = String(reading.value);
  const reason = addressFault(text);
  return reason === undefined ? { value: normalizeAddress(text) } : { reason };
}
