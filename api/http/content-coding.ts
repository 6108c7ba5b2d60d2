// Compressed request bodies, which are refused: the server decompresses none.

/** True when a `Content-Encoding` says that the body is encoded. */
export function isCoded(coding: string | undefined): boolean {
  return coding !== undefined && !/^(?:identity)?$/i.test(coding);
}
