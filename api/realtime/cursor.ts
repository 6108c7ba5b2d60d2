// Cursors: positions in a replay log, opaque to clients.
import { type Cipheriv, createCipheriv, createDecipheriv, type Decipheriv } from 'node:crypto';

/** A position: the number of a log, and of the event in it that was seen last. */
export interface LogPosition {
  log: number;
  seq: number;
}

const blockBytes = 16;
/** The length of a cursor, in characters. */
export const cursorLength = 22;

/**
 * Encodes and decodes the cursors of one process. A cursor is one AES block, so a subscriber cannot count the events that
 * a rule hides from it. A cursor from before a restart, with another key, decodes to an unknown position.
 */
export class Cursors {
  readonly #cipher: Cipheriv;
  readonly #decipher: Decipheriv;
  readonly #plain = Buffer.alloc(blockBytes);

  /** `key`: 16 random bytes, new in each process. */
  constructor(key: Buffer) {
    // ECB is unsafe for messages of several blocks. Here each message is one block, and no two are the same.
    this.#cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
    this.#decipher = createDecipheriv('aes-128-ecb', key, null).setAutoPadding(false);
  }

  /** The cursor of a position: 22 characters of `A-Z a-z 0-9 _ -`. */
  encode({ log, seq }: LogPosition): string {
    this.#plain.writeDoubleBE(log, 0);
    this.#plain.writeDoubleBE(seq, 8);
    return this.#cipher.update(this.#plain).toString('base64url');
  }

  /** The position of a cursor, in a log that may no longer exist. Undefined for anything that is not a cursor. */
  decode(cursor: string): LogPosition | undefined {
    if (cursor.length !== cursorLength) return undefined;
    const block = Buffer.from(cursor, 'base64url');
    if (block.length !== blockBytes) return undefined;
    const plain = this.#decipher.update(block);
    const place = { log: plain.readDoubleBE(0), seq: plain.readDoubleBE(8) };
    return Number.isSafeInteger(place.log) && Number.isSafeInteger(place.seq) ? place : undefined;
  }
}
