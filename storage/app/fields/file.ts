// Field kind `file`: the id of a stored file.
import { type Field, filesId } from '../../definition.ts';
import type { Kind, SettingFault } from './kind.ts';
import { idReader, referenceKind } from './references.ts';

const maxPatterns = 50;
const maxPatternLength = 100;
/** A media type without parameters (RFC 6838), or all of one kind. */
const mimePattern = /^[a-z0-9][a-z0-9!#$&^_.+-]*\/(?:\*|[a-z0-9][a-z0-9!#$&^_.+-]*)$/;

/** A reference to a file. */
export const file: Kind = {
  ...referenceKind,
  settings: ['many', 'max_size', 'mime', 'delete_with_record', 'unique', 'index'],
  settingFaults,
  reader: () => idReader('file'),
  pointsTo: () => filesId,
};

function settingFaults({ max_size, mime }: Field): SettingFault[] {
  const faults: SettingFault[] = [];
  if (max_size !== undefined && !(Number.isSafeInteger(max_size) && max_size > 0)) {
    faults.push({ setting: 'max_size', reason: 'must be a whole number of bytes from 1' });
  }
  if (mime === undefined) return faults;
  if (mime.length === 0 || mime.length > maxPatterns) {
    faults.push({ setting: 'mime', reason: `must list 1 to ${maxPatterns} types` });
  } else if (mime.some((type) => type.length > maxPatternLength || !mimePattern.test(type))) {
    faults.push({
      setting: 'mime',
      reason: 'must be media types in lower case, such as application/pdf or image/*',
    });
  }
  return faults;
}

/** The reason why a field does not take a file; undefined when it does. */
export function fileFault(
  { max_size, mime }: Field,
  { size, type }: { size: number; type: string },
): string | undefined {
  if (max_size !== undefined && size > max_size) {
    return `the file has ${size} bytes, and at most ${max_size} are allowed`;
  }
  const bare = type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const fits = mime?.some((pattern) =>
    pattern.endsWith('/*') ? bare.startsWith(pattern.slice(0, -1)) : bare === pattern
  );
  return fits === false ? `the file is of type ${bare}, and must be of ${mime?.join(', ')}` : undefined;
}
