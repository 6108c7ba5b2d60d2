// The names that a hook file may have.
import { failValidation } from '../../errors.ts';

const maxNameBytes = 200;
// deno-lint-ignore no-control-regex
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/;

/** The fault of a name; undefined when it has none. */
export function filenameFault(name: string): string | undefined {
  if (!/\.(?:js|ts)$/.test(name)) return 'must end in .js or .ts';
  if (/[/\\]|\.\./.test(name)) return 'must not contain /, \\ or ..';
  if (!/^[A-Za-z0-9_]/.test(name)) return 'must begin with a letter, a digit or _';
  if (controlCharacter.test(name) || !name.isWellFormed()) return 'must not contain control characters';
  // Some file systems take two spellings of the same letters for one name.
  if (name !== name.normalize('NFC')) return 'must be in Unicode normalization form C';
  return Buffer.byteLength(name) > maxNameBytes ? `must have at most ${maxNameBytes} bytes` : undefined;
}

/** Lets a legal name through. Throws `400 validation`. */
export function checkFilename(name: string): string {
  const reason = filenameFault(name);
  if (reason !== undefined) failValidation([{ field: 'filename', reason }]);
  return name;
}
