// Limits how short the chunks of a body may be: a chunk of one byte costs as much time as one of kilobytes.

/** So many chunks may be of any length. */
const freeChunks = 1_024;
/** The average length that more chunks must have, in bytes. */
const minAverageBytes = 16;

/** Counts the chunks of one body. */
export class ChunkGuard {
  #chunks = 0;
  #bytes = 0;

  /** The chunks so far. */
  get chunks(): number {
    return this.#chunks;
  }

  /** Counts a chunk. Returns false when there are too many that are too short. */
  admits(bytes: number): boolean {
    this.#chunks++;
    this.#bytes += bytes;
    return this.#chunks <= freeChunks || this.#bytes >= this.#chunks * minAverageBytes;
  }
}
