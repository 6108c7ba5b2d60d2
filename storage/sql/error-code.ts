// Error codes of Node and PostgreSQL.

/** The code that Node or PostgreSQL gives an error, such as `ENOENT` or `28P01`; empty when it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** No space left, or no more than a quota allows. `53100` is PostgreSQL's code for it. */
const full: readonly string[] = ['ENOSPC', 'EDQUOT', '53100'];

/** True for a full disk, be it the server's own or the database's. */
export function isDiskFull(error: unknown): boolean {
  return full.includes(errorCode(error));
}

/** True for a number that PostgreSQL has computed, and that its type cannot hold. */
export function exceedsItsType(error: unknown): boolean {
  return errorCode(error) === '22003';
}

/** The result of the work; undefined when it meets a file or folder that does not exist. */
export async function unlessMissing<Value>(work: Promise<Value>): Promise<Value | undefined> {
  try {
    return await work;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
