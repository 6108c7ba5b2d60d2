// Range and conditional request headers (RFC 9110 sections 13 and 14).

/** The bytes to send: all (undefined), some (both ends inclusive), or none that exist. */
export type ByteRange = { start: number; end: number } | undefined | 'unsatisfiable';

/**
 * Parses a `Range` header. A single range is honoured. For several ranges, and for an invalid header, the whole file is
 * sent, as the RFC allows.
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

/** True when an `If-None-Match` names the tag. The comparison is weak (RFC 9110 section 13.1.2). */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag);
}
