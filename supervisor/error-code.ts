// Telling the errors of Node apart.

/** The code that Node gives an error, such as `ENOENT`; empty when it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
