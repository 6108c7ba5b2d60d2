// Compressed bodies of requests, which are refused: nothing here decompresses them.

/** Whether a `Content-Encoding` says that a body is another thing than the bytes that were sent. */
export function isCoded(coding: string | undefined): boolean {
  return coding !== undefined && !/^(?:identity)?$/i.test(coding);
}
