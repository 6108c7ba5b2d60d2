// Creates a collection: checks its declaration, then writes table, definition and audit entry.
import { insertCollection } from '../../storage/app/collections.ts';
import type { AppDefinition, CollectionIndex, Field } from '../../storage/definition.ts';
import { createTable } from '../../storage/app/alter/table.ts';
import type { Deps } from '../deps.ts';
import { quotaExceeded, quotaLimit } from '../usage/quota.ts';
import { fail, failTaken, failValidation, type FieldError } from '../errors.ts';
import type { Caller } from '../audit/actor.ts';
import { type CollectionResponse, showCollection } from './response.ts';
import { changeCollections, type ChangeDeps } from './change.ts';
import { numberingErrors } from './declaration/autonumber.ts';
import { fieldErrors } from './declaration/define.ts';
import { ownFields } from './declaration/implied.ts';
import { indexErrors } from './declaration/indexes.ts';
import { collectionNameFault } from './declaration/names.ts';
import { searchSetting } from './search.ts';
import { requireIndexLimit, withinSizeLimit } from './size-limit.ts';
import { targetErrors } from './declaration/targets.ts';

/** The declaration in the body of a create. */
export interface NewCollection {
  id: string;
  kind?: 'base' | 'auth' | 'view' | undefined;
  language?: string | undefined;
  fields: readonly Field[];
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
  const quota = await quotaLimit(deps.policies, 'quota.collections', {
    workspace: app.workspace.id,
    app: app.id,
  });
  return await changeCollections(deps, app, {
    by,
    work: async ({ sql, schema, collections, audit }) => {
      if (collections.has(id)) failTaken('schema.id', `collection "${id}" already exists`);
      if (quota !== undefined && collections.size >= quota) throw quotaExceeded('quota.collections', quota);
      if (collections.size >= maxCollections) {
        fail('conflict', `the app has ${maxCollections} collections, the most it can have`);
      }
      const missing = targetErrors(fields, new Set([...collections.keys(), id]));
      if (missing.length > 0) failValidation(missing);
      const search = await searchSetting(sql, undefined, declared);
      requireIndexLimit(collections, { id, fields, indexes, search });
      const { now } = by;
      await withinSizeLimit(
        { sql, schema },
        () => insertCollection(sql, schema, { id, kind, fields, indexes, search, now }),
      );
      await createTable(sql, { schema, collection: id }, { kind, fields, indexes, search });
      await audit('collection_create', id, { kind, fields: fields.map(({ name }) => name) });
      return showCollection({ id, kind, fields, indexes, search, created_at: now, updated_at: now });
    },
  });
}

function identityErrors({ id, kind }: NewCollection): FieldError[] {
  const errors: FieldError[] = [];
  const nameFault = collectionNameFault(id);
  if (nameFault !== undefined) errors.push({ field: 'schema.id', reason: nameFault });
  if (kind === 'view') {
    errors.push({ field: 'schema.kind', reason: '"view" collections are not available yet' });
  }
  return errors;
}
