// Names of files: what is kept of one that a client sends, and how one travels in a header.
import { replaceControlCharacters } from '../logging/control-characters.ts';

const maxNameBytes = 255;
/** ASCII without the percent sign: stays the same for clients that decode it. */
const plain = /^[\x20-\x24\x26-\x7e]*$/;

/** The name that `X-Filename` gives: percent-decoded, its last path segment, at most 255 bytes; `file` without one. */
export function parseFilename(header: string | undefined): string {
  if (header === undefined) return 'file';
  const text = replaceControlCharacters(decoded(utf8Of(header)), () => '');
  const segment = text.split(/[/\\]/).at(-1)?.trim() ?? '';
  const name = cut(segment);
  return name === '' || name === '.' || name === '..' ? 'file' : name;
}

/** The name as `X-Filename` carries it back: as it is where it survives that, else percent-encoded (RFC 3986). */
export function filenameHeader(name: string): string {
  return plain.test(name) && parseFilename(name) === name ? name : encoded(name);
}

/** A `Content-Disposition` with the name (RFC 6266, RFC 8187). */
export function disposition(kind: 'inline' | 'attachment', name: string): string {
  return `${kind}; filename*=UTF-8''${encoded(name)}`;
}

/** Node reads headers as Latin-1; clients that do not encode send UTF-8. */
function utf8Of(header: string): string {
  const bytes = Buffer.from(header, 'latin1');
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? text : header;
}

/** A percent sign that begins no escape is one that the client did not mean as such. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function encoded(name: string): string {
  // Those that encodeURIComponent leaves and RFC 8187 does not.
  return encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** At most 255 bytes; what is cut is the middle, since the end says what kind of file it is. */
function cut(name: string): string {
  if (Buffer.byteLength(name) <= maxNameBytes) return name;
  const extension = /\.[A-Za-z0-9]{1,16}$/.exec(name)?.[0] ?? '';
  const room = maxNameBytes - extension.length;
  const start = Buffer.from(name).subarray(0, room).toString('utf8').replace(/\ufffd$/, '');
  return start + extension;
}
