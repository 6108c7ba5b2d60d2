// Email addresses: checked, in the form in which they are stored, and in both forms of an international domain.
import { domainToASCII, domainToUnicode } from 'node:url';

/** https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address */
const asciiPattern =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;

/** RFC 5321 section 4.5.3.1.3, less the angle brackets. */
const maxLength = 254;

const unicode = /[^\0-\x7f]/;

/** What no domain has, in lower case and in either form. The functions of `node:url` would end it at some of these. */
const forbidden = /[\0-,/:-`{-\x7f]/;

/** The reason why a text is no address, if it is none. Before the `@`, not all SMTP servers take more than ASCII. */
export function addressFault(text: string): string | undefined {
  const ascii = asciiAddress(text);
  if (ascii.length <= maxLength && asciiPattern.test(ascii)) return undefined;
  const [local, domain] = splitAddress(text);
  const hint = domain !== '' && unicode.test(local) ? ' with only ASCII characters before the @' : '';
  return `must be an email address${hint}`;
}

/**
 * An address as it is stored and shown: in lower case, its domain in the form in which it was given. Capitals beyond
 * ASCII stay before the `@`: the small letter of some is an ASCII one.
 */
export function normalizeAddress(text: string): string {
  const [, domain] = splitAddress(text);
  return unicode.test(domain) ? unicodeAddress(text) : asciiAddress(text);
}

/** The form in which mail servers know an address, and which is the same for both forms. Other texts stay. */
export function asciiAddress(text: string): string {
  const [local, domain] = splitAddress(text);
  return local + (isInternational(domain) ? domainToASCII(domain) || domain : domain);
}

function unicodeAddress(text: string): string {
  const ascii = asciiAddress(text);
  const [local, domain] = splitAddress(ascii);
  const written = isInternational(domain) ? domainToUnicode(domain) : domain;
  return domainToASCII(written) === domain ? local + written : ascii;
}

/** The forms in which an address may be stored: one, or two if its domain is international. */
export function addressForms(address: string): string[] {
  return [...new Set([asciiAddress(address), unicodeAddress(address)])];
}

/** The form that is the same for both forms of an address, where there are two: a unique constraint is on it. */
export function uniqueForm(address: string): string | null {
  const [ascii = '', other] = addressForms(address);
  return other === undefined ? null : ascii;
}

/** Both halves in lower case, the first with its `@`; all is the first half where there is none. */
function splitAddress(text: string): [local: string, domain: string] {
  const lowered = text.replaceAll(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
  const at = lowered.lastIndexOf('@') + 1;
  return at === 0 ? [lowered, ''] : [lowered.slice(0, at), lowered.slice(at)];
}

function isInternational(domain: string): boolean {
  return domain.length <= maxLength && (unicode.test(domain) || domain.includes('xn--')) &&
    !forbidden.test(domain);
}
