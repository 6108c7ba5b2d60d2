// Changes a collection: adds, drops and changes fields, or refuses the change as a whole.
import { isDeepStrictEqual } from 'node:util';
import { updateCollection } from '../../storage/app/collections.ts';
import type { AppDefinition, CollectionDefinition, Field } from '../../storage/definition.ts';
import { StorageError } from '../../storage/errors.ts';
import { alterTable, attachmentName } from '../../storage/app/tables.ts';
import type { Caller } from '../audit/actor.ts';
import { ApiError, failValidation, type FieldError } from '../errors.ts';
import { failNoCollection } from '../target.ts';
import { type CollectionResponse, showCollection } from './response.ts';
import { changeCollections, type ChangeDeps } from './change.ts';
import { fieldErrors } from './define.ts';
import { ownFields } from './implied.ts';
import { requireIndexLimit, withinSizeLimit } from './size-limit.ts';
import { targetErrors } from './targets.ts';

/** The new declaration of a collection. */
export interface ChangedCollection {
  id?: string | undefined;
  kind?: 'base' | 'auth' | 'view' | undefined;
  fields: readonly Field[];
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
  const altered = changeCollections(deps, app, {
    by,
    work: async ({ sql, schema, collections, audit }) => {
      const before = collections.get(id) ?? failNoCollection(id);
      const { fields, errors } = ownFields(before.kind, declared.fields);
      const refused = [
        ...identityErrors(before, declared),
        ...errors,
        ...changeErrors(before.fields, fields, drop),
        ...targetErrors(fields, new Set(collections.keys())),
      ];
      if (refused.length > 0) failValidation(refused);
      requireIndexLimit(collections, { id, fields });
      await alterTable(sql, { schema, collection: id }, { before: before.fields, after: fields });
      await withinSizeLimit(
        { sql, schema },
        () => updateCollection(sql, schema, { id, fields, now: by.now }),
      );
      await audit('collection_update', id, differences(before.fields, fields));
      return showCollection({ ...before, fields, updated_at: by.now });
    },
  });
  return await altered.catch((error: unknown) => {
    throw explained(error, id, declared.fields);
  });
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

/** Turns a failure that existing records cause into `409 conflict`. */
function explained(error: unknown, id: string, fields: readonly Field[]): unknown {
  if (!(error instanceof StorageError)) return error;
  if (error.failure === 'conflict') {
    const field = fields.find(({ name }) => attachmentName('unique', id, name) === error.constraint);
    const reason = 'cannot be unique, because records have the same value';
    const errors = field === undefined ? [] : [{ field: `schema.fields.${field.name}.unique`, reason }];
    return new ApiError('conflict', `${field?.name ?? id}: ${reason}`, [], { errors });
  }
  return error.failure === 'invalid'
    ? new ApiError('conflict', `${id}: a value is too long to be indexed, or there have been too many fields`)
    : error;
}

function differences(before: readonly Field[], after: readonly Field[]): Record<string, unknown> {
  const old = new Map(before.map((field) => [field.name, field]));
  const kept = new Set(after.map(({ name }) => name));
  const changed = after.filter((field) => {
    const other = old.get(field.name);
    return other !== undefined && !isDeepStrictEqual(other, field);
  });
  return {
    added: after.filter(({ name }) => !old.has(name)).map(({ name }) => name),
    dropped: before.filter(({ name }) => !kept.has(name)).map(({ name }) => name),
    changed: changed.map(({ name }) => name),
    from: changed.map(({ name }) => old.get(name)),
    to: changed,
  };
}
