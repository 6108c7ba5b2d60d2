// How large the declarations of an app's collections may be together.
import { definitionBytes } from '../../storage/app/collections.ts';
import type { Field } from '../../storage/definition.ts';
import { hasIndex } from '../../storage/app/tables.ts';
import { fail } from '../errors.ts';
import type { ChangeScope } from './change.ts';

/** Of all fields of an app with their options and defaults, as JSON: they are read together, and kept in memory. */
const mostBytes = 8 * 1_048_576;

/**
 * Without those of ids. Whoever drops the app locks all at once, in a table of locks that PostgreSQL has once for all
 * tenants.
 */
const mostIndexes = 2_000;

/** Ends a change with `409 conflict` that gives an app more indexes than it may have; fewer it may always have. */
export function requireRoomForIndexes(
  collections: ChangeScope['collections'],
  { id, fields }: { id: string; fields: readonly Field[] },
): void {
  const indexesOf = (some: readonly Field[] = []) => some.filter(hasIndex).length;
  const more = indexesOf(fields) - indexesOf(collections.get(id)?.fields);
  if (more <= 0) return;
  const before = [...collections.values()].reduce((sum, { fields }) => sum + indexesOf(fields), 0);
  if (before + more <= mostIndexes) return;
  fail('conflict', `all collections of the app together would have more than ${mostIndexes} indexes`);
}

/** Runs a change of declarations. Throws `409 conflict` when it adds to more than an app may have; less is always allowed. */
export async function withinRoom<Result>(
  { sql, schema }: Pick<ChangeScope, 'sql' | 'schema'>,
  change: () => Promise<Result>,
): Promise<Result> {
  const before = await definitionBytes(sql, schema);
  const result = await change();
  const after = await definitionBytes(sql, schema);
  if (after > mostBytes && after > before) {
    fail('conflict', `the fields of all collections of the app would take up more than ${mostBytes} bytes`);
  }
  return result;
}
