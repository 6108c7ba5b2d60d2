// Creates a collection: checks its declaration, then writes table, definition and audit entry.
import { insertCollection } from '../../storage/app/collections.ts';
import type {
  AppDefinition,
  CollectionDefinition,
  CollectionIndex,
  Field,
} from '../../storage/definition.ts';
import { createTable } from '../../storage/app/alter/table.ts';
import { ensureViewer } from '../../storage/provision/app.ts';
import type { Deps } from '../deps.ts';
import { quotaExceeded, quotaLimit } from '../usage/quota.ts';
import { fail, failTaken, failValidation, type FieldError } from '../errors.ts';
import type { Caller } from '../audit/actor.ts';
import { type CollectionResponse, showCollection } from './response.ts';
import { changeCollections, type ChangeDeps, type CollectionChangeScope } from './change.ts';
import { numberingErrors } from './declaration/autonumber.ts';
import { fieldErrors } from './declaration/define.ts';
import { ownFields } from './declaration/implied.ts';
import { indexErrors } from './declaration/indexes.ts';
import { collectionNameFault } from './declaration/names.ts';
import { searchSetting } from './search.ts';
import { requireIndexLimit, withinSizeLimit } from './size-limit.ts';
import { targetErrors } from './declaration/targets.ts';
import { makeView, requireTable, viewErrors } from './views/declared-view.ts';

/** The declaration in the body of a create. */
export interface NewCollection {
  id: string;
  kind?: 'base' | 'auth' | 'view' | undefined;
  /** The query of a view. */
  query?: string | undefined;
  language?: string | undefined;
  /** The fields; a view has none of its own. */
  fields?: readonly Field[] | undefined;
  indexes?: readonly CollectionIndex[] | undefined;
}

/** Whatever `quota.collections` allows: all definitions of an app are read and cached together. */
const maxCollections = 1_000;

/**
 * Creates a collection. Throws `400 validation` with all errors, `409 conflict` for a taken id, `403 quota_exceeded` above
 * policy `quota.collections`.
 */
export async function createCollection(
  deps: ChangeDeps & Pick<Deps, 'policies'>,
  app: AppDefinition,
  { declared, by }: { declared: NewCollection; by: Caller },
): Promise<CollectionResponse> {
  const { id } = declared;
  const make = declared.kind === 'view' ? newView(declared) : newTable(declared);
  const quota = await quotaLimit(deps.policies, 'quota.collections', {
    workspace: app.workspace.id,
    app: app.id,
  });
  if (declared.kind === 'view') await prepareViews(deps, app);
  return await changeCollections(deps, app, {
    by,
    work: async (scope) => {
      const { sql, schema, collections, audit } = scope;
      if (collections.has(id)) failTaken('schema.id', `collection "${id}" already exists`);
      if (quota !== undefined && collections.size >= quota) throw quotaExceeded('quota.collections', quota);
      if (collections.size >= maxCollections) {
        fail('conflict', `the app has ${maxCollections} collections, the most it can have`);
      }
      const { now } = by;
      const made = { id, ...await make(scope) };
      await withinSizeLimit({ sql, schema }, () => insertCollection(sql, schema, { ...made, now }));
      const { kind, fields, query } = made;
      const names = fields.map(({ name }) => name);
      await audit('collection_create', id, { kind, fields: names, ...(kind === 'view' ? { query } : {}) });
      return showCollection({ ...made, created_at: now, updated_at: now });
    },
  });
}

/** The parts of the definition that a declaration leads to. */
type MadeCollection = Pick<CollectionDefinition, 'kind' | 'fields' | 'indexes' | 'search' | 'query'>;

/** Checks the declaration of a table, and returns what makes it. Throws `400 validation`. */
function newTable(declaration: NewCollection): (scope: CollectionChangeScope) => Promise<MadeCollection> {
  const declared = requireTable(declaration);
  const { id, indexes = [] } = declared;
  const kind = declared.kind === 'auth' ? 'auth' : 'base';
  const { fields, errors: implied } = ownFields(kind, declared.fields);
  const errors = [
    ...identityErrors(declared),
    ...fieldErrors(declared.fields),
    ...implied,
    ...indexErrors(indexes, fields),
    ...numberingErrors(fields),
  ];
  if (errors.length > 0) failValidation(errors);
  return async ({ sql, schema, collections }) => {
    const missing = targetErrors(fields, collections, id);
    if (missing.length > 0) failValidation(missing);
    const search = await searchSetting(sql, undefined, declared);
    requireIndexLimit(collections, { id, fields, indexes, search });
    await createTable(sql, { schema, collection: id }, { kind, fields, indexes, search });
    return { kind, fields, indexes, search };
  };
}

/** Checks the declaration of a view, likewise. */
function newView(declared: NewCollection): (scope: CollectionChangeScope) => Promise<MadeCollection> {
  const { id, query = '' } = declared;
  const errors = [...identityErrors(declared), ...viewErrors(declared)];
  if (errors.length > 0) failValidation(errors);
  return async (scope) => ({ kind: 'view', ...await makeView(scope, id, query) });
}

/** The first view of an app needs a role of its own. */
async function prepareViews({ databases }: ChangeDeps, { schema, workspace: { database } }: AppDefinition) {
  await databases.provisioner(database).transaction((sql) => ensureViewer(sql, { database, schema }));
}

function identityErrors({ id }: NewCollection): FieldError[] {
  const nameFault = collectionNameFault(id);
  return nameFault === undefined ? [] : [{ field: 'schema.id', reason: nameFault }];
}
