// The size of a value as JSON, about: without the escapes, and without the time that it takes to write it.

const numberBytes = 8;

/** Adds up the bytes of all strings, names, signs, and numbers of usual length. */
export function jsonSize(value: unknown): number {
  let size = 0;
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === 'string') size += Buffer.byteLength(next) + 2;
    else if (typeof next !== 'object' || next === null) size += numberBytes;
    else {
      size += 2;
      for (const [name, member] of Object.entries(next)) {
        size += Array.isArray(next) ? 1 : Buffer.byteLength(name) + 4;
        left.push(member);
      }
    }
  }
  return size;
}
