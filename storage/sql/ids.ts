// Identifiers: v7 UUIDs for rows, v4 for what needs no order, opaque names for databases, schemas and roles.
import { randomBytes, randomFillSync } from 'node:crypto';

const idBytes = 16;
const idsPerFill = 256;

/**
 * Makes a source of version 7 UUIDs (RFC 9562 section 5.7): 48 bits of milliseconds, a 12-bit counter within the
 * millisecond (method 1 of section 6.2), 62 random bits. Ids of one source sort in the order they were made,
 * also when the clock is set back. `now` is in milliseconds.
 */
export function uuidV7Source(now: () => number): () => string {
  let lastMillisecond = 0;
  let sequence = 0;
  return uuidSource((bytes, at) => {
    const millisecond = now();
    if (millisecond > lastMillisecond) {
      lastMillisecond = millisecond;
      sequence = 0;
    } else if (++sequence > 0xfff) {
      lastMillisecond++;
      sequence = 0;
    }
    bytes.writeUIntBE(lastMillisecond, at, 6);
    bytes.writeUInt16BE(0x7000 | sequence, at + 6);
  });
}

/** Makes a source of version 4 UUIDs (RFC 9562 section 5.4), random but for version and variant. */
export function uuidV4Source(): () => string {
  return uuidSource((bytes, at) => {
    bytes[at + 6] = 0x40 | ((bytes[at + 6] ?? 0) & 0x0f);
  });
}

/**
 * Makes a source of UUIDs out of random bytes, some of which `complete` sets. The texts are written as bytes: V8 keeps
 * a concatenation as its parts, and when `JSON.stringify` meets one it begins again, in a way that takes three times as
 * long.
 */
function uuidSource(complete: (bytes: Buffer, at: number) => void): () => string {
  // A call for random bytes costs many times as much as the rest of an id, however few bytes it is for.
  const bytes = Buffer.alloc(idBytes * idsPerFill);
  const text = Buffer.from('00000000-0000-0000-0000-000000000000');
  let used = bytes.length;
  return () => {
    if (used === bytes.length) {
      randomFillSync(bytes);
      used = 0;
    }
    complete(bytes, used);
    bytes[used + 8] = 0x80 | ((bytes[used + 8] ?? 0) & 0x3f);
    for (let at = 0; at < text.length; at++) {
      if (text[at] === hyphen) continue;
      const byte = bytes[used++] ?? 0;
      text[at++] = hexDigits[byte >> 4] ?? 0;
      text[at] = hexDigits[byte & 15] ?? 0;
    }
    return text.toString('latin1');
  };
}

const hexDigits = Buffer.from('0123456789abcdef');
const hyphen = 0x2d;

/** The time in a version 7 UUID, in milliseconds since 1970. */
export function uuidTime(uuidV7: string): number {
  return parseInt(uuidV7.slice(0, 8) + uuidV7.slice(9, 13), 16);
}

/** The same version 7 UUID with another time. */
export function withUuidTime(uuidV7: string, millisecond: number): string {
  const time = millisecond.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}${uuidV7.slice(13)}`;
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** True for a UUID of any version, in the usual hyphenated form. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}

/** The pattern of the ids of workspaces and apps. */
export const tenantIdPattern = /^[a-z0-9][a-z0-9_-]{0,39}$/;

/** True when a workspace or an app could have this id. */
export function isTenantId(text: string): boolean {
  return tenantIdPattern.test(text);
}

/** A name for a database, role or schema that does not tell its tenant: the prefix and 80 random bits. */
export function opaqueName(prefix: 'w_' | 'a_'): string {
  return prefix + randomBytes(10).toString('hex');
}

/** The role that owns an app's schema and makes its tables. The role that reads and writes in it has the schema's name. */
export function ownerRole(schema: string): string {
  return schema.replace(/^a_/, 'o_');
}

/** The role that owns an app's views, if there are any. It reads the tables of the app's collections and nothing else. */
export function viewerRole(schema: string): string {
  return schema.replace(/^a_/, 'v_');
}
