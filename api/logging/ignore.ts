// Errors that are ignored on purpose.

/** Returns a handler that ignores an error. `reason` is for readers: it says why nobody needs the error. */
export function ignore(_reason: string): () => undefined {
  return () => undefined;
}
