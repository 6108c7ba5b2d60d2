// Errors for queries that no view can have.
import { RefusedQuery } from '../../../storage/app/views/refused-query.ts';
import { failValidation, unknownColumn } from '../../errors.ts';

const path = 'schema.query';

/** Runs work that makes a view. Throws `400 validation`, or `400 unknown_column`, where the query is refused. */
export async function explainRefusals<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RefusedQuery)) throw error;
    if (error.reason === 'column') throw unknownColumn(path, error.message);
    const code = error.reason === 'collection' ? { code: 'not_found' } : {};
    failValidation([{ field: path, reason: error.message, ...code }]);
  }
}
