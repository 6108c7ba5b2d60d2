// How much the collections of an app may be declared to be.
import { sizeOfCollections } from '../../storage/collections.ts';
import { fail } from '../errors.ts';
import type { ChangeScope } from './change.ts';

/** Of all fields of an app with their options and defaults, as JSON: they are read together, and kept in memory. */
const mostBytes = 8 * 1_048_576;

/** Runs a change of declarations. Throws `409 conflict` when it adds to more than an app may have; less may always be made of it. */
export async function withinRoom<Result>(
  { sql, schema }: Pick<ChangeScope, 'sql' | 'schema'>,
  change: () => Promise<Result>,
): Promise<Result> {
  const before = await sizeOfCollections(sql, schema);
  const result = await change();
  const after = await sizeOfCollections(sql, schema);
  if (after > mostBytes && after > before) {
    fail('conflict', `the fields of all collections of the app would take up more than ${mostBytes} bytes`);
  }
  return result;
}
