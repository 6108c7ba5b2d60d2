// Parses JSON without rounding its numbers: those that a double cannot hold become objects, as `JSON.rawJSON` makes them.
import { parseJson, rawJson, reviveJson, toText } from './untampered.ts';

/** Every number of at most 15 digits comes back from a double as it was. */
const longNumber = /[\d.]{16}/;
const zero = 0x30;
const nine = 0x39;

/** Parses JSON. Throws `SyntaxError`. */
export function parseExactJson(text: string): unknown {
  return longNumber.test(text) ? parseWithDigits(text) : parseJson(text);
}

/** The same, which is slower for JSON without long numbers. */
export function parseWithDigits(text: string): unknown {
  return reviveJson(text, keepDigits);
}

function keepDigits(_name: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined) return value;
  const written = toText(value);
  return written === source || significantDigits(written) === significantDigits(source)
    ? value
    : rawJson(source);
}

/** The digits of a number from the first to the last that is not zero. */
function significantDigits(text: string): string {
  let digits = '';
  let zeros = '';
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    const digit = text[index] ?? '';
    if (digit === 'e' || digit === 'E') break;
    if (unit === zero) zeros += digits === '' ? '' : digit;
    else if (unit > zero && unit <= nine) {
      digits += zeros + digit;
      zeros = '';
    }
  }
  return digits;
}
