// Rows of an app's `_access_rules`: the rules that are not the default.
import type { AccessRule, Action } from '../definition.ts';
import type { Sql } from '../connections/pool.ts';
import { quoteIdentifier } from '../sql/quote.ts';

/** The name of a rule. */
export interface RuleName {
  collection: string;
  action: Action;
}

function rulesTable(schema: string): string {
  return `${quoteIdentifier(schema)}._access_rules`;
}

/** An SQL expression for the rules of the collection that `id`, an expression too, names: an object by action. */
export function collectionRules(schema: string, id: string): string {
  return `coalesce((
    select jsonb_object_agg(action, jsonb_build_object('template', template, 'filter', filter))
    from ${rulesTable(schema)} where collection = ${id}), '{}')`;
}

/** Sets a rule, in place of an earlier one. */
export async function putAccessRule(
  sql: Sql,
  schema: string,
  { collection, action, template, filter, now }: RuleName & AccessRule & { now: Date },
): Promise<void> {
  await sql.unsafe(
    `insert into ${
      rulesTable(schema)
    } (collection, action, template, filter, updated_at) values ($1, $2, $3, $4, $5)
     on conflict (collection, action) do update
     set template = excluded.template, filter = excluded.filter, updated_at = excluded.updated_at`,
    [collection, action, template, filter, now],
  );
}

/** Removes a rule, so that the default applies again. */
export async function deleteAccessRule(
  sql: Sql,
  schema: string,
  { collection, action }: RuleName,
): Promise<void> {
  await sql.unsafe(`delete from ${rulesTable(schema)} where collection = $1 and action = $2`, [
    collection,
    action,
  ]);
}
