// Cursors: places in a replay log that clients may hold, but not read.
import { type Cipheriv, createCipheriv, createDecipheriv, type Decipheriv } from 'node:crypto';

/** A place: which log, and after which of its events. */
export interface LogPosition {
  log: number;
  seq: number;
}

const blockBytes = 16;
/** Characters of a cursor. */
export const cursorLength = 22;

/**
 * Cursors of one process. Each is one AES block, so a subscriber cannot count the events that a rule hides from it, and
 * one from before a restart, which was made with another key, is recognised as unknown.
 */
export class Cursors {
  readonly #cipher: Cipheriv;
  readonly #decipher: Decipheriv;
  readonly #plain = Buffer.alloc(blockBytes);

  /** `key`: 16 random bytes, new in each process. */
  constructor(key: Buffer) {
    // ECB is a defect for messages of several blocks; here each message is one block and none comes twice.
    this.#cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
    this.#decipher = createDecipheriv('aes-128-ecb', key, null).setAutoPadding(false);
  }

  /** A cursor: 22 characters of `A-Z a-z 0-9 _ -`. */
  encode({ log, seq }: LogPosition): string {
    this.#plain.writeDoubleBE(log, 0);
    this.#plain.writeDoubleBE(seq, 8);
    return this.#cipher.update(this.#plain).toString('base64url');
  }

  /** Undefined for anything that is not a cursor; whether its log is still held is for the log to say. */
  decode(cursor: string): LogPosition | undefined {
    if (cursor.length !== cursorLength) return undefined;
    const block = Buffer.from(cursor, 'base64url');
    if (block.length !== blockBytes) return undefined;
    const plain = this.#decipher.update(block);
    const place = { log: plain.readDoubleBE(0), seq: plain.readDoubleBE(8) };
    return Number.isSafeInteger(place.log) && Number.isSafeInteger(place.seq) ? place : undefined;
  }
}
