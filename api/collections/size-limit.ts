// The size limits of the declarations of an app's collections.
import { definitionBytes } from '../../storage/app/collections.ts';
import { countIndexes, type TableDefinition } from '../../storage/app/alter/attachments.ts';
import { fail } from '../errors.ts';
import type { CollectionChangeScope } from './change.ts';

/** Bytes of all fields of an app with their options and defaults, as JSON. They are read and cached together. */
const maxBytes = 8 * 1_048_576;

/**
 * The most indexes of an app, besides those of ids. Dropping the app locks all of them at once, in the lock table that
 * PostgreSQL has for all tenants.
 */
const maxIndexes = 2_000;

/** Throws `409 conflict` for a change that adds indexes above the limit. */
export function requireIndexLimit(
  collections: CollectionChangeScope['collections'],
  { id, ...after }: TableDefinition & { id: string },
): void {
  const current = collections.get(id);
  const more = countIndexes(after) - (current === undefined ? 0 : countIndexes(current));
  if (more <= 0) return;
  const before = [...collections.values()].reduce((sum, collection) => sum + countIndexes(collection), 0);
  if (before + more <= maxIndexes) return;
  fail('conflict', `all collections of the app together would have more than ${maxIndexes} indexes`);
}

/** Runs a change of declarations. Throws `409 conflict` when they grow above the limit. */
export async function withinSizeLimit<Result>(
  { sql, schema }: Pick<CollectionChangeScope, 'sql' | 'schema'>,
  change: () => Promise<Result>,
): Promise<Result> {
  const before = await definitionBytes(sql, schema);
  const result = await change();
  const after = await definitionBytes(sql, schema);
  if (after > maxBytes && after > before) {
    fail('conflict', `the fields of all collections of the app would take up more than ${maxBytes} bytes`);
  }
  return result;
}
