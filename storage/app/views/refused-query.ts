// The reasons for which the query of a view is refused, those of PostgreSQL included.
import { postgres } from '../../connections/driver/driver.ts';

/** A query that no view can have. The message says why, in words for whoever wrote the query. */
export class RefusedQuery extends Error {
  /** `column` and `collection`: it names one that is not there. `use`: it uses what no view may. */
  readonly reason: 'syntax' | 'column' | 'collection' | 'use' | 'shape';

  constructor(reason: RefusedQuery['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RefusedQuery';
    this.reason = reason;
  }
}

const denied = '42501';
const reasonsByState: Readonly<Record<string, RefusedQuery['reason']>> = {
  '42703': 'column',
  '42P01': 'collection',
  '42601': 'syntax',
  '3F000': 'use',
  '0A000': 'use',
  '42P16': 'shape',
  '42701': 'shape',
};

/** Classes of SQLSTATE that say that the query is wrong: its values, its statement, its size. 0A: PostgreSQL cannot do that. */
const ofQuery = ['0A', '21', '22', '25', '2B', '42', '44', '54'];

/** Runs a statement of which the query is a part. Throws `RefusedQuery` where PostgreSQL refuses it. */
export async function asQuery<Result>(work: () => PromiseLike<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw explain(error);
  }
}

function explain(error: unknown): unknown {
  if (!(error instanceof postgres.PostgresError)) return error;
  const { code, message } = error;
  if (code === denied) {
    return new RefusedQuery('use', 'it may read the collections of its own app, and nothing else', {
      cause: error,
    });
  }
  if (code === '3F000') {
    return new RefusedQuery('use', 'it names a schema that is not there', { cause: error });
  }
  if (code === '42601' && message.startsWith('cannot insert multiple commands')) {
    return new RefusedQuery('syntax', 'must be one SELECT statement', { cause: error });
  }
  return ofQuery.some((start) => code.startsWith(start))
    ? new RefusedQuery(reasonsByState[code] ?? 'syntax', message.replace(/^relation /, 'collection '), {
      cause: error,
    })
    : error;
}
