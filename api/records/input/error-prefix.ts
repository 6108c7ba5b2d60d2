// Errors of one write in a batch, whose messages and paths begin with the name of that write.
import { ApiError } from '../../errors.ts';

/** Does the work of a write. Its errors begin with its name, if it has one; they are about members of its `body`. */
export async function withErrorPrefix<Result>(
  name: string | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (name === undefined || !(error instanceof ApiError)) throw error;
    const { code, message, headers, status } = error;
    const errors = error.errors.map((each) => ({ ...each, field: `${name}.body.${each.field}` }));
    throw new ApiError(code, `${name}: ${message}`, headers, { status, errors });
  }
}
