// File names: parsed from request headers, and encoded for response headers.
import { replaceControlCharacters } from '../logging/control-characters.ts';

const maxNameBytes = 255;
/** ASCII without the percent sign, which stays the same when decoded. */
const plain = /^[\x20-\x24\x26-\x7e]*$/;

/** The name that `X-Filename` gives: percent-decoded, its last path segment, at most 255 bytes; `file` without one. */
export function parseFilename(header: string | undefined): string {
  if (header === undefined) return 'file';
  return safeFilename(decoded(utf8Of(header)));
}

/** A name as it is stored: its last path segment without control characters, at most 255 bytes; `file` when nothing is left. */
export function safeFilename(given: string): string {
  const text = replaceControlCharacters(given, () => '');
  const segment = text.split(/[/\\]/).at(-1)?.trim() ?? '';
  const name = cut(segment);
  return name === '' || name === '.' || name === '..' ? 'file' : name;
}

/** The name for an `X-Filename` response header, percent-encoded (RFC 3986) if necessary. */
export function filenameHeader(name: string): string {
  return plain.test(name) && parseFilename(name) === name ? name : encoded(name);
}

/**
 * A `Content-Disposition` with the name in both forms: in full for clients that know RFC 8187, before it in ASCII for the
 * others (RFC 6266, appendix D).
 */
export function disposition(kind: 'inline' | 'attachment', name: string): string {
  // Clients differ in what ends the short form, and in what they decode in it.
  const ascii = name.replace(/[^A-Za-z0-9 ._()-]/g, '_');
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${encoded(name)}`;
}

/** Reads a header as UTF-8 if possible. Node reads headers as Latin-1, and clients may send UTF-8. */
function utf8Of(header: string): string {
  const bytes = Buffer.from(header, 'latin1');
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? text : header;
}

/** Percent-decodes a name; one with an invalid escape stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function encoded(name: string): string {
  // Characters that RFC 8187 escapes and encodeURIComponent does not.
  return encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Shortens a name to 255 bytes and keeps its extension. */
function cut(name: string): string {
  if (Buffer.byteLength(name) <= maxNameBytes) return name;
  const extension = /\.[A-Za-z0-9]{1,16}$/.exec(name)?.[0] ?? '';
  const room = maxNameBytes - extension.length;
  const start = Buffer.from(name).subarray(0, room).toString('utf8').replace(/\ufffd$/, '');
  return start + extension;
}
