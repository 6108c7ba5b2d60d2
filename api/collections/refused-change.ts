// Errors for changes of a collection that its records do not admit.
import { countDuplicates } from '../../storage/app/alter/duplicates.ts';
import type { TableDefinition } from '../../storage/app/alter/attachments.ts';
import { numberingOf } from '../../storage/app/fields/autonumber.ts';
import { attachmentName, indexName } from '../../storage/app/tables.ts';
import type { Connection } from '../../storage/connections/pool.ts';
import { StorageError } from '../../storage/errors.ts';
import { ApiError, type FieldError, fieldsError } from '../errors.ts';

/** A change that failed: the collection, and what it would have become. */
export interface RefusedChange extends TableDefinition {
  schema: string;
  id: string;
}

/** Turns a failure that existing records cause into `409 conflict`; any other error is returned as it is. */
export async function explainChangeError(
  error: unknown,
  connection: Connection,
  change: RefusedChange,
): Promise<unknown> {
  if (!(error instanceof StorageError)) return error;
  if (error.failure === 'conflict') return await explainDuplicates(error, connection, change);
  if (error.failure === 'missing_reference') return explainDefault(error, change);
  return error.failure === 'invalid'
    ? new ApiError(
      'conflict',
      `${change.id}: a value is too long to be indexed, or there have been too many fields`,
    )
    : error;
}

/** A default that was filled in, and that names nothing. */
function explainDefault({ constraint }: StorageError, { id, fields }: RefusedChange): ApiError {
  const field = fields.find(({ name }) => attachmentName('reference', id, name) === constraint);
  const reason = 'there is nothing with this id to fill in';
  return fieldsError('validation', [{
    field: `schema.fields.${field?.name ?? ''}.default`,
    reason,
    code: 'not_found',
  }]);
}

async function explainDuplicates(
  { constraint }: StorageError,
  connection: Connection,
  { schema, id, fields, indexes }: RefusedChange,
): Promise<ApiError> {
  const refused = [
    ...fields.map(({ name }) => ({
      constraint: attachmentName('unique', id, name),
      names: [name],
      path: `schema.fields.${name}.unique`,
    })),
    ...fields.map((field) => ({
      constraint: attachmentName('number', id, field.name),
      names: [numberingOf(field)?.within ?? [], field.name].flat(),
      path: `schema.fields.${field.name}.autonumber`,
    })),
    ...indexes.map((index, position) => ({
      constraint: indexName(id, index),
      names: index.fields,
      path: `schema.indexes.${position}`,
    })),
  ].find((each) => each.constraint === constraint);
  if (refused === undefined) return new ApiError('conflict', `${id}: cannot be unique`);
  const { names, path } = refused;
  // The number is for people. It may have changed, and counting may take too long.
  const [counting] = await Promise.allSettled([
    connection.run((sql) => countDuplicates(sql, { schema, collection: id }, names)),
  ]);
  const records = counting.status === 'rejected' || counting.value === 0
    ? 'records have'
    : `${counting.value} records have`;
  const reason = `cannot be unique, because ${records} the same ${names.length === 1 ? 'value' : 'values'}`;
  const errors: FieldError[] = [{ field: path, reason }];
  return new ApiError('conflict', `${names.join(', ')}: ${reason}`, [], { errors });
}
