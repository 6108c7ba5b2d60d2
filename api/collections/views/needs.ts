// What views need of the collections that they read: nobody takes it from them, and they follow what changes.
import { updateCollection } from '../../../storage/app/collections.ts';
import type { Renames } from '../../../storage/app/alter/rename.ts';
import { readViewFields, readViewQuery, type ViewNeed, viewsOf } from '../../../storage/app/views/views.ts';
import type { CollectionDefinition } from '../../../storage/definition.ts';
import { isDeepStrictEqual } from 'node:util';
import { fail, type FieldError, fieldsError } from '../../errors.ts';
import type { CollectionChangeScope } from '../change.ts';
import type { CheckedChange } from '../declaration/changed-definition.ts';

/** The views of some needs, as a message names them. */
export function namesOf(needs: readonly ViewNeed[]): string {
  const names = [...new Set(needs.map(({ view }) => view))].sort();
  return `the ${names.length === 1 ? 'view' : 'views'} ${names.map((name) => `"${name}"`).join(', ')}`;
}

/** Throws `409 conflict` while views read a collection that is to be dropped. */
export async function requireUnread(
  { sql, schema, collections }: CollectionChangeScope,
  id: string,
): Promise<void> {
  const needs = await viewsOf(sql, { schema, collection: id }, collections);
  if (needs.length > 0) {
    fail('conflict', `"${id}" is read by ${namesOf(needs)}: drop or change what reads it first`);
  }
}

/** Throws `409 conflict` for a change that drops a field which a view needs, or makes it hold many. Nothing is renamed yet. */
export async function requireUnneeded(
  { sql, schema, collections }: CollectionChangeScope,
  before: CollectionDefinition,
  { after, renames }: Pick<CheckedChange, 'after' | 'renames'>,
): Promise<void> {
  const needs = await viewsOf(sql, { schema, collection: before.id }, collections);
  const wanted = new Map(after.fields.map((field) => [field.name, field]));
  const errors = before.fields.flatMap(({ name, many }): FieldError[] => {
    const next = wanted.get(renames.get(name) ?? name);
    const needing = needs.filter(({ column }) => column === name);
    if (needing.length === 0 || (next !== undefined && next.many === many)) return [];
    const change = next === undefined ? 'be dropped' : 'hold many';
    return [{ field: `schema.fields.${name}`, reason: `cannot ${change}: needed by ${namesOf(needing)}` }];
  });
  if (errors.length > 0) throw fieldsError('conflict', errors);
}

/** A collection that was changed. */
export interface ChangedTable {
  after: CollectionDefinition;
  renames: Renames;
  now: Date;
}

/** Brings the definitions of views up to date: their queries have new names, and their fields the options of now. */
export async function refreshViews(
  { sql, schema, collections }: CollectionChangeScope,
  { after, renames, now }: ChangedTable,
): Promise<void> {
  const current = new Map([...collections, [after.id, after]]);
  const stale = [after.id];
  const renamed = new Set(renames.values());
  for (const id of stale) {
    const needs = await viewsOf(sql, { schema, collection: id }, current);
    for (const [name, needed] of Map.groupBy(needs, ({ view }) => view)) {
      const view = current.get(name);
      if (view === undefined) continue;
      const table = { schema, collection: name };
      const fields = await readViewFields(sql, table, current);
      const hasNewNames = id === after.id && needed.some(({ column }) => renamed.has(column ?? ''));
      const query = hasNewNames ? await readViewQuery(sql, table) : view.query;
      if (query === view.query && isDeepStrictEqual(fields, view.fields)) continue;
      const fresh = { ...view, fields, query };
      current.set(name, fresh);
      await updateCollection(sql, schema, { ...fresh, now });
      stale.push(name);
    }
  }
}
