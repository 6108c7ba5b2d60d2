// How long something is that comes in pieces, and how short those are: one of a byte costs as much time as one of kilobytes.

/** So many may be as short as they like. */
const freePieces = 1_024;
/** What all of more have on average, in bytes. */
const leastBytes = 16;

/** Counts the pieces of one body. */
export class PieceCount {
  #pieces = 0;
  #bytes = 0;

  /** Pieces so far. */
  get pieces(): number {
    return this.#pieces;
  }

  /** Counts another one; false when there are too many that are too short. */
  admits(bytes: number): boolean {
    this.#pieces++;
    this.#bytes += bytes;
    return this.#pieces <= freePieces || this.#bytes >= this.#pieces * leastBytes;
  }
}
