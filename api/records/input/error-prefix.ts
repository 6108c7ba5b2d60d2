// Errors of one write in a batch, which begin with the name of that write.
import { ApiError } from '../../errors.ts';

/** Does the work of a write. The messages of its errors begin with its name, if it has one. */
export async function withErrorPrefix<Result>(
  name: string | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (name === undefined || !(error instanceof ApiError)) throw error;
    throw new ApiError(error.code, `${name}: ${error.message}`, error.headers, error.status);
  }
}
