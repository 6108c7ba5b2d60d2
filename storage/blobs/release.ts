// Releases memory at once that the garbage collector would find later.

/**
 * Releases the memory of a chunk that is not read any more; its length is 0 afterwards. A chunk that shares its memory
 * keeps it. Bytes are replaced much faster than objects: otherwise many uploads make the collector run dozens of times
 * a second, for some milliseconds each.
 */
export function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && byteLength > 0 && byteLength === buffer.byteLength) buffer.transfer(0);
}
