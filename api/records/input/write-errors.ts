// Turns what PostgreSQL refuses of a record (constraints) into errors that name the collection's fields.
import { pointsTo } from '../../../storage/app/fields/kinds.ts';
import { filesId } from '../../../storage/definition.ts';
import { StorageError } from '../../../storage/errors.ts';
import type { RecordPlan } from '../../../storage/app/records/plan.ts';
import { ApiError, failTaken, type FieldError, fieldsError } from '../../errors.ts';

/** The error for a field that points to nothing, or to nothing that the caller may read. */
export function missingTarget({ fields }: RecordPlan, name: string): FieldError {
  const isFile = fields.some(({ field }) => field.name === name && pointsTo(field) === filesId);
  const reason = `there is no ${isFile ? 'file' : 'record'} with this id`;
  return { field: name, reason, code: 'not_found' };
}

/** The error of the response to a write that failed. An error that is not about the record is returned as it is. */
export function explainWriteError(error: unknown, plan: RecordPlan): unknown {
  if (!(error instanceof StorageError)) return error;
  const fields = plan.constraintFields(error.constraint);
  const [field] = fields;
  switch (error.failure) {
    case 'conflict':
      if (field === undefined && error.constraint?.startsWith('_u_') === true) {
        return new ApiError(
          'conflict',
          'another record has the same values in fields that are about to be unique',
        );
      }
      return field === undefined
        ? failTaken('id', `a record with this id already exists in "${plan.collection}"`)
        : fieldsError('conflict', takenErrors(fields));
    case 'missing_reference':
      return field === undefined
        ? new ApiError('validation', 'a relation: there is no record with this id')
        : fieldsError('validation', [missingTarget(plan, field)]);
    case 'restricted':
      return new ApiError('conflict', 'a required relation of another record points to this record');
    case 'invalid':
      // The only check of records is that of numbers: a trigger of storage/app/alter/autonumber.ts.
      if (field !== undefined) {
        const reason = `cannot be changed: the records are numbered within it (${fields.at(-1)})`;
        return fieldsError('validation', [{ field, reason }]);
      }
      return new ApiError('validation', 'the record is too large, or a value is too long to be indexed');
    case 'unavailable':
    case 'timeout':
    case 'undefined':
    case 'serialization':
      return error;
  }
}

/** The errors for values that another record has, which no two may have in these fields together. */
function takenErrors(fields: readonly string[]): FieldError[] {
  const reason = fields.length === 1
    ? 'another record has this value'
    : `another record has the same values in ${fields.join(', ')}`;
  return fields.map((field) => ({ field, reason, code: 'taken' }));
}
