// Field kind `email`: an address, compared and stored in lower case.
import type { Kind, ParsedValue } from './kind.ts';
import { readString, stringKind } from './strings.ts';
import type { Field } from '../../definition.ts';

/** An email address. */
export const email: Kind = {
  ...stringKind,
  isLowerCase: true,
  reader: (field) => (value) => read(value, field),
};

/** https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address */
const address =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;

/** RFC 5321 section 4.5.3.1.3, less the angle brackets. */
const maxLength = 254;

function read(value: unknown, field: Field): ParsedValue {
  const reading = readString(value, field);
  if ('reason' in reading) return reading;
  const text = String(reading.value);
  // Tested before it is lowered: some letters beyond ASCII have an ASCII lower case, and such an address is another
  // one.
  return text.length <= maxLength && address.test(text)
    ? { value: text.toLowerCase() }
    : { reason: 'must be an email address' };
}
