// Telling the errors of Node and PostgreSQL apart.

/** The code that Node or PostgreSQL gives an error, such as `ENOENT` or `28P01`; empty when it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** No space left, or no more than a quota allows; `53100` is PostgreSQL's own word for it. */
const full: readonly string[] = ['ENOSPC', 'EDQUOT', '53100'];

/** Whether a disk is full, be it the server's own or the database's. */
export function isOutOfRoom(error: unknown): boolean {
  return full.includes(codeOf(error));
}
