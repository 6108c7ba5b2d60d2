// Which bytes a request asks for (RFC 9110 section 14).

/** The bytes to send: all of them (undefined), some (both ends inclusive), or none that exist. */
export type ByteRange = { start: number; end: number } | undefined | 'unsatisfiable';

/**
 * Reads a `Range` header. One range is honoured; several, and what is not understood, are answered with the whole, as
 * the RFC allows.
 */
export function parseRange(header: string | undefined, size: number): ByteRange {
  const [, first = '', last = ''] = /^bytes=([0-9]*)-([0-9]*)$/i.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') return fromEnd(Number(last), size);
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'unsatisfiable' : { start, end };
}

function fromEnd(length: number, size: number): ByteRange {
  if (length === 0 || size === 0) return 'unsatisfiable';
  return { start: Math.max(0, size - length), end: size - 1 };
}

/** Whether an `If-None-Match` names the tag; comparison is weak (RFC 9110 section 13.1.2). */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag);
}
