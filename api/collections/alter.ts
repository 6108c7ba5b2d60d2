// Changes a collection: adds, drops and changes fields, or refuses the change as a whole.
import { isDeepStrictEqual } from 'node:util';
import { updateCollection } from '../../storage/app/collections.ts';
import type { TableDefinition } from '../../storage/app/alter/attachments.ts';
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import { hasDefault } from '../../storage/app/alter/fill.ts';
import { renameColumns } from '../../storage/app/alter/rename.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import { alterTable } from '../../storage/app/alter/table.ts';
import type { Caller } from '../audit/actor.ts';
import { failValidation } from '../errors.ts';
import { failNoCollection } from '../target.ts';
import { type CollectionResponse, showCollection } from './response.ts';
import { type BuiltAhead, withBuildsAhead } from './build-ahead.ts';
import { changeCollections, type ChangeDeps } from './change.ts';
import { type ChangedCollection, checkChange, type CheckedChange } from './declaration/changed-definition.ts';
import { fieldErrors } from './declaration/define.ts';
import { describeRules, rulesOfField } from './field-rules.ts';
import { checkRecords } from './existing-records.ts';
import { explainChangeError, type RefusedChange } from './refused-change.ts';
import { renameInRules } from './rename-rules.ts';
import { searchSetting } from './search.ts';
import { changeView } from './views/change-view.ts';
import { requireTable } from './views/declared-view.ts';
import { refreshViews, requireUnneeded } from './views/needs.ts';
import { requireIndexLimit, withinSizeLimit } from './size-limit.ts';

/** A change of a collection. */
export interface Alteration {
  id: string;
  declared: Omit<ChangedCollection, 'fields'> & { fields?: ChangedCollection['fields'] | undefined };
  /** True when fields that are left out may be dropped with their values. */
  drop: boolean;
  /** True when records get the defaults of new fields, and of those that are required from now on. */
  fill?: boolean;
  by: Caller;
}

/**
 * Changes a collection. Throws `400 validation` with all errors, `404` when it was dropped, `409 conflict` when a field
 * cannot become unique; nothing has changed then.
 */
export async function alterCollection(
  deps: ChangeDeps,
  app: AppDefinition,
  alteration: Alteration,
): Promise<CollectionResponse> {
  const { id, declared, by } = alteration;
  if (app.collections.get(id)?.kind === 'view') return await changeView(deps, app, { id, declared, by });
  const table = requireTable(declared);
  const errors = fieldErrors(table.fields);
  if (errors.length > 0) failValidation(errors);
  return await changeTable(deps, app, { ...alteration, declared: table });
}

async function changeTable(
  deps: ChangeDeps,
  app: AppDefinition,
  { id, declared, drop, fill = false, by }: Alteration & { declared: ChangedCollection },
): Promise<CollectionResponse> {
  let refused: RefusedChange = { schema: app.schema, id, fields: declared.fields, indexes: [] };
  const commit = (built?: BuiltAhead) =>
    changeCollections(deps, app, {
      by,
      ...(built === undefined ? {} : { connection: built.connection }),
      work: async (scope) => {
        const { sql, schema, collections, audit } = scope;
        const before = collections.get(id) ?? failNoCollection(id);
        const checked = await checkIn(sql, before, { app, collections, declared, drop });
        const { after, renamed, renames } = checked;
        refused = { ...refused, ...after };
        requireIndexLimit(collections, { id, ...after });
        const table = { schema, collection: id };
        const filled = await checkRecords(sql, table, {
          ...{ before, after, fill },
          formerNames: new Map([...renames].map(([from, to]) => [to, from])),
        });
        await requireUnneeded(scope, before, checked);
        await renameColumns(sql, table, { before, renames });
        await alterTable(sql, table, { before: renamed, after, filled, built: built?.names });
        await withinSizeLimit(scope, () => updateCollection(sql, schema, { id, ...after, now: by.now }));
        const definition = { ...before, ...after };
        const renaming = { app, before: collections, after: definition, renames, now: by.now };
        await refreshViews(scope, renaming);
        const rules = renames.size === 0 ? [] : await renameInRules(sql, renaming);
        await audit('collection_update', id, differences({ ...checked, rules }));
        return showCollection({ ...definition, updated_at: by.now });
      },
    });
  const altered = withBuildsAhead(deps, app, {
    id,
    commit,
    intend: async (sql, before, collections) => {
      const checked = await checkIn(sql, before, { app, collections, declared, drop });
      const { after } = checked;
      refused = { ...refused, ...after };
      return { ...checked, before, filled: fill ? defaultsToFill(before, after) : new Set() };
    },
  });
  return await altered.catch(async (error: unknown) => {
    const owner = deps.databases.appOwner(app.workspace.database, app.schema);
    throw await explainChangeError(error, owner, refused);
  });
}

/** Throws `400 validation` with everything that is wrong in a change. */
async function checkIn(
  sql: Sql,
  before: CollectionDefinition,
  { app, collections, declared, drop }: Pick<AppDefinition, 'collections'> & {
    app: AppDefinition;
    declared: ChangedCollection;
    drop: boolean;
  },
): Promise<CheckedChange> {
  const checked = checkChange(before, {
    ...{ declared, drop, collections },
    rulesOf: (name) => describeRules(rulesOfField({ ...app, collections }, before, name)),
  });
  return {
    ...checked,
    after: { ...checked.after, search: await searchSetting(sql, before.search, declared) },
  };
}

/** The names of new fields with a default. */
function defaultsToFill(before: TableDefinition, after: TableDefinition): ReadonlySet<string> {
  const known = new Set(before.fields.map(({ name }) => name));
  return new Set(
    after.fields.filter((field) => !known.has(field.name) && hasDefault(field)).map(({ name }) => name),
  );
}

/** The details of the audit entry. */
function differences(
  { renamed: before, after, renames, rules }: CheckedChange & { rules: readonly string[] },
): Record<string, unknown> {
  const old = new Map(before.fields.map((field) => [field.name, field]));
  const kept = new Set(after.fields.map(({ name }) => name));
  const changed = after.fields.filter((field) => {
    const other = old.get(field.name);
    return other !== undefined && !isDeepStrictEqual(other, field);
  });
  return {
    added: after.fields.filter(({ name }) => !old.has(name)).map(({ name }) => name),
    dropped: before.fields.filter(({ name }) => !kept.has(name)).map(({ name }) => name),
    changed: changed.map(({ name }) => name),
    from: changed.map(({ name }) => old.get(name)),
    to: changed,
    ...(renames.size === 0 ? {} : { renamed: Object.fromEntries(renames), rules }),
    ...(isDeepStrictEqual(before.indexes, after.indexes)
      ? {}
      : { indexes: { from: before.indexes, to: after.indexes } }),
  };
}
