// Identifiers: v7 UUIDs for rows, opaque names for what lives in the cluster.
import { randomBytes, randomFillSync } from 'node:crypto';

const idBytes = 8;
const idsPerFill = 512;

/**
 * Makes a source of version 7 UUIDs (RFC 9562 section 5.7): 48 bits of milliseconds, a 12-bit counter within the
 * millisecond (method 1 of section 6.2), 62 random bits. Ids of one source sort in the order they were made,
 * also when the clock is set back. `now` is in milliseconds.
 */
export function uuidV7Source(now: () => number): () => string {
  let lastMillisecond = 0;
  let sequence = 0;
  // A call for random bytes costs as much as the rest of an id many times over, however few they are.
  const random = Buffer.alloc(idBytes * idsPerFill);
  let used = random.length;
  return () => {
    const millisecond = now();
    if (millisecond > lastMillisecond) {
      lastMillisecond = millisecond;
      sequence = 0;
    } else if (++sequence > 0xfff) {
      lastMillisecond++;
      sequence = 0;
    }
    if (used === random.length) {
      randomFillSync(random);
      used = 0;
    }
    random[used] = ((random[used] ?? 0) & 0x3f) | 0x80;
    const time = lastMillisecond.toString(16).padStart(12, '0');
    const counter = sequence.toString(16).padStart(3, '0');
    const tail = random.toString('hex', used, used + idBytes);
    used += idBytes;
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${tail.slice(0, 4)}-${tail.slice(4)}`;
  };
}

/** When a version 7 UUID was made, in milliseconds since 1970. */
export function millisecondOf(uuidV7: string): number {
  return parseInt(uuidV7.slice(0, 8) + uuidV7.slice(9, 13), 16);
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether the text is a UUID of any version, in the usual hyphenated form. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}

/** What ids of workspaces and apps look like. */
export const tenantIdPattern = /^[a-z0-9][a-z0-9_-]{0,39}$/;

/** Whether a workspace or an app could have this id at all. */
export function isTenantId(text: string): boolean {
  return tenantIdPattern.test(text);
}

/** A name for a database, role or schema that says nothing about its tenant: the prefix and 80 random bits. */
export function opaqueName(prefix: 'w_' | 'a_'): string {
  return prefix + randomBytes(10).toString('hex');
}
