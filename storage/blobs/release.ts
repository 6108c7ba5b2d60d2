// Giving memory back at once that the garbage collector would only find later.

/**
 * Lets go of the memory of a chunk that nobody reads any more; its length is 0 from then on. One that shares its memory
 * with others keeps it. Bytes pass by much faster than objects: without this a crowd of uploads has the collector run
 * dozens of times a second, for some milliseconds each.
 */
export function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && byteLength > 0 && byteLength === buffer.byteLength) buffer.transfer(0);
}
