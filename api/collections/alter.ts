// Changes a collection: adds, drops and changes fields, or refuses the change as a whole.
import { isDeepStrictEqual } from 'node:util';
import { updateCollection } from '../../storage/app/collections.ts';
import type {
  AppDefinition,
  CollectionDefinition,
  CollectionIndex,
  Field,
} from '../../storage/definition.ts';
import type { TableDefinition } from '../../storage/app/alter/attachments.ts';
import { alterTable } from '../../storage/app/alter/table.ts';
import type { Caller } from '../audit/actor.ts';
import { failValidation, type FieldError } from '../errors.ts';
import { failNoCollection } from '../target.ts';
import { type CollectionResponse, showCollection } from './response.ts';
import { changeCollections, type ChangeDeps } from './change.ts';
import { fieldErrors } from './define.ts';
import { ownFields } from './implied.ts';
import { indexErrors, keptIndexErrors } from './indexes.ts';
import { explainChangeError, type RefusedChange } from './refused-change.ts';
import { requireIndexLimit, withinSizeLimit } from './size-limit.ts';
import { targetErrors } from './targets.ts';

/** The new declaration of a collection. */
export interface ChangedCollection {
  id?: string | undefined;
  kind?: 'base' | 'auth' | 'view' | undefined;
  fields: readonly Field[];
  /** The indexes stay as they are when this is left out. */
  indexes?: readonly CollectionIndex[] | undefined;
}

/** A change of a collection. */
export interface Alteration {
  id: string;
  declared: ChangedCollection;
  /** True when fields that are left out may be dropped with their values. */
  drop: boolean;
  by: Caller;
}

/**
 * Changes a collection. Throws `400 validation` with all errors, `404` when it was dropped, `409 conflict` when a field
 * cannot become unique; nothing has changed then.
 */
export async function alterCollection(
  deps: ChangeDeps,
  app: AppDefinition,
  { id, declared, drop, by }: Alteration,
): Promise<CollectionResponse> {
  const errors = fieldErrors(declared.fields);
  if (errors.length > 0) failValidation(errors);
  let refused: RefusedChange = { schema: app.schema, id, fields: declared.fields, indexes: [] };
  const altered = changeCollections(deps, app, {
    by,
    work: async ({ sql, schema, collections, audit }) => {
      const before = collections.get(id) ?? failNoCollection(id);
      const after = definitionAfter(before, { declared, drop, collections });
      refused = { ...refused, ...after };
      requireIndexLimit(collections, { id, ...after });
      await alterTable(sql, { schema, collection: id }, { before, after });
      await withinSizeLimit(
        { sql, schema },
        () => updateCollection(sql, schema, { id, ...after, now: by.now }),
      );
      await audit('collection_update', id, differences(before, after));
      return showCollection({ ...before, ...after, updated_at: by.now });
    },
  });
  return await altered.catch(async (error: unknown) => {
    const owner = deps.databases.appOwner(app.workspace.database, app.schema);
    throw await explainChangeError(error, owner, refused);
  });
}

/** The definition that a change makes. Throws `400 validation` with everything that is wrong in it. */
function definitionAfter(
  before: CollectionDefinition,
  { declared, drop, collections }: Pick<Alteration, 'declared' | 'drop'> & {
    collections: ReadonlyMap<string, CollectionDefinition>;
  },
): TableDefinition {
  const { fields, errors } = ownFields(before.kind, declared.fields);
  const refused = [
    ...identityErrors(before, declared),
    ...errors,
    ...changeErrors(before.fields, fields, drop),
    ...targetErrors(fields, new Set(collections.keys())),
    ...declared.indexes === undefined
      ? keptIndexErrors(before.indexes, fields)
      : indexErrors(declared.indexes, fields),
  ];
  if (refused.length > 0) failValidation(refused);
  return { fields, indexes: declared.indexes ?? before.indexes };
}

function identityErrors(before: CollectionDefinition, { id, kind }: ChangedCollection): FieldError[] {
  const errors: FieldError[] = [];
  if (id !== undefined && id !== before.id) {
    errors.push({ field: 'schema.id', reason: `must be "${before.id}": a collection cannot be renamed` });
  }
  if (kind !== undefined && kind !== before.kind) {
    errors.push({ field: 'schema.kind', reason: `must be "${before.kind}": it cannot be changed` });
  }
  return errors;
}

function changeErrors(before: readonly Field[], after: readonly Field[], drop: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const wanted = new Map(after.map((field) => [field.name, field]));
  for (const { name, kind, target } of before) {
    const next = wanted.get(name);
    const at = `schema.fields.${name}`;
    if (next === undefined) {
      if (!drop) {
        errors.push({ field: at, reason: 'is missing; to drop it and its data, add ?confirm=drop' });
      }
    } else if (next.kind !== kind) {
      errors.push({ field: `${at}.kind`, reason: `must be "${kind}": it cannot be changed` });
    } else if (next.target !== target) {
      errors.push({ field: `${at}.target`, reason: `must be "${target}": it cannot be changed` });
    }
  }
  return errors;
}

function differences(before: TableDefinition, after: TableDefinition): Record<string, unknown> {
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
    ...(isDeepStrictEqual(before.indexes, after.indexes)
      ? {}
      : { indexes: { from: before.indexes, to: after.indexes } }),
  };
}
