// Access rules that name fields which get other names.
import { putAccessRule } from '../../storage/app/access-rules.ts';
import type { Renames } from '../../storage/app/alter/rename.ts';
import { FilterError } from '../../storage/app/filter/parse/error.ts';
import { parse } from '../../storage/app/filter/parse/parse.ts';
import { renameInFilter } from '../../storage/app/filter/rename.ts';
import { resolve } from '../../storage/app/filter/resolve.ts';
import { filterScope } from '../../storage/app/filter/source.ts';
import type { Action, AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import { ApiError } from '../errors.ts';

/** The definitions of an app before and after fields of one of its collections got other names. */
export interface RenamedDefinitions {
  app: AppDefinition;
  before: ReadonlyMap<string, CollectionDefinition>;
  after: CollectionDefinition;
  renames: Renames;
  now: Date;
}

/**
 * Writes the new names into all access rules of the app that have the old ones. Throws `409 conflict` for a rule that would
 * no longer compile.
 */
export async function renameInRules(
  sql: Sql,
  { app, before, after, renames, now }: RenamedDefinitions,
): Promise<string[]> {
  const old = { ...app, collections: before };
  const renamed = { ...app, collections: new Map([...before, [after.id, after]]) };
  const changed: string[] = [];
  for (const collection of before.values()) {
    for (const [action, rule] of rulesOf(collection)) {
      const scope = filterScope(old, collection);
      const filter = renameInFilter(rule.filter ?? '', scope, { collection: after.id, names: renames });
      if (rule.filter === null || filter === rule.filter) continue;
      const name = { collection: collection.id, action };
      requireCompiled(
        filter,
        filterScope(renamed, renamed.collections.get(collection.id) ?? collection),
        name,
      );
      await putAccessRule(sql, app.schema, { ...name, template: rule.template, filter, now });
      changed.push(`${collection.id}.${action}`);
    }
  }
  return changed;
}

function rulesOf({ rules }: CollectionDefinition) {
  return (Object.keys(rules) as Action[]).flatMap((action) => {
    const rule = rules[action];
    return rule === undefined ? [] : [[action, rule] as const];
  });
}

function requireCompiled(
  filter: string,
  scope: ReturnType<typeof filterScope>,
  { collection, action }: { collection: string; action: Action },
): void {
  try {
    resolve(parse(filter), scope);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    const reason = `the ${action} rule of "${collection}" cannot take the new name: ${error.message}`;
    const errors = [{ field: `access_rules.${collection}.${action}`, reason }];
    throw new ApiError('conflict', reason, [], { errors });
  }
}
