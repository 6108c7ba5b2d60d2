// The result of a run of a job: how it ended, or why it did not begin. It may go from one process to another as JSON.
import { ApiError, type ErrorCode } from '../../errors.ts';
import type { HeaderList } from '../../http/header-list.ts';
import type { JobOutcome } from '../ports.ts';

/** A run that ended, or was refused. */
export type JobResult<Outcome = JobOutcome> =
  | { outcome: Outcome }
  | { refusal: { code: ErrorCode; message: string; headers: HeaderList } };

/** The result of a run that was refused by an `ApiError`. */
export function refused({ code, message, headers }: ApiError): JobResult<never> {
  return { refusal: { code, message, headers } };
}

/** The outcome of a run. Throws the `ApiError` by which it was refused. */
export function toOutcome<Outcome>(result: JobResult<Outcome>): Outcome {
  if ('outcome' in result) return result.outcome;
  const { code, message, headers } = result.refusal;
  throw new ApiError(code, message, headers);
}
