// Lets the error of one write in a batch say which write it was.
import { ApiError } from '../../errors.ts';

/** Does the work of a write; its name, where it has one, begins the messages of its errors. */
export async function naming<Result>(
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
