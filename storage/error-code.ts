// Telling the errors of Node and PostgreSQL apart.

/** The code that Node or PostgreSQL gives an error, such as `ENOENT` or `28P01`; empty when it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
