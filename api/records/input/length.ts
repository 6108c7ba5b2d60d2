// The length of records in responses, and how long one may become.
import type { StoredValue } from '../../../storage/app/fields/kind.ts';
import { JsonText } from '../../../storage/sql/json-text.ts';
import type { StoredRecord } from '../../../storage/app/records/plan.ts';
import { fail, failValidation } from '../../errors.ts';

/** Twice the size limit of bodies: a record can grow by one update after the other. Characters. */
const maxRecordLength = 16 * 1_048_576;
/** One update for each field that a collection may have, each of so many characters, makes no record too long. */
const minLengthToCheck = 32_768;

/** About how many characters a record takes in a response. */
export function recordLength({ fields }: Pick<StoredRecord, 'fields'>): number {
  return lengthOfValues(Object.values(fields));
}

/** Of the records of one batch together. Characters. */
const maxBatchLength = 64 * 1_048_576;

/** Adds the records of one write of a batch: all are held in memory until the last write. Throws `400 validation`. */
export function addLength(length: number, records: readonly Pick<StoredRecord, 'fields'>[]): number {
  const sum = records.reduce((sum, record) => sum + recordLength(record), length);
  if (sum > maxBatchLength) {
    failValidation([{
      field: 'requests',
      reason: 'the records are too large to be written at once; send fewer',
    }]);
  }
  return sum;
}

/** True when a record may be too long once these of its values are stored. */
export function mayExceedLength(values: readonly (StoredValue | null)[]): boolean {
  return lengthOfValues(values) > minLengthToCheck;
}

/** Ends the request with `400` for values that are too long for one record. */
export function refuseTooLong(values: readonly unknown[]): void {
  if (lengthOfValues(values) > maxRecordLength) {
    fail('validation', 'the record would hold more than 16,777,216 characters');
  }
}

function lengthOfValues(values: readonly unknown[]): number {
  let length = 0;
  for (const value of values) {
    if (typeof value === 'string') length += value.length;
    else if (value instanceof JsonText) length += value.text.length;
    else if (typeof value === 'object' && value !== null) length += JSON.stringify(value).length;
  }
  return length;
}
