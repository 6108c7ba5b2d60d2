// `FieldError`, by which a before-hook says which field it refuses.
import type { RefusedField } from './registrations.ts';
import { withoutPrototype } from './untampered.ts';

/** A code that an author chose for an error. */
export const errorCodePattern = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

const maxPathLength = 200;

/** Throws `TypeError`. */
function checkFieldError(path: string, code: string): void {
  if (typeof path !== 'string' || path === '' || path.length > maxPathLength) {
    throw new TypeError(`the path of a FieldError is a text of 1 to ${maxPathLength} characters`);
  }
  if (typeof code !== 'string' || !errorCodePattern.test(code)) {
    throw new TypeError('the code of a FieldError is a letter and up to 63 letters, digits, _, . and -');
  }
}

/** The error that a before-hook throws to refuse one field of the record. */
export class FieldError extends Error {
  readonly path: string;
  readonly code: string;

  /** @throws TypeError for an invalid path or code */
  constructor(path: string, message: string, code = 'invalid') {
    super(message);
    checkFieldError(path, code);
    this.name = 'FieldError';
    this.path = path;
    this.code = code;
  }
}

/**
 * The field that a thrown value refuses; undefined for a value that is no `FieldError`.
 *
 * @throws TypeError for a `FieldError` whose members a subclass has made invalid
 */
export function refusedField(thrown: unknown): RefusedField | undefined {
  if (!(thrown instanceof FieldError)) return undefined;
  const { path, code } = thrown;
  checkFieldError(path, code);
  return withoutPrototype({ path, code });
}
