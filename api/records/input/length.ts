// How long records are in answers, and how long one may become.
import type { Stored } from '../../../storage/app/fields/kind.ts';
import { JsonText } from '../../../storage/sql/json-text.ts';
import type { StoredRecord } from '../../../storage/app/records/plan.ts';
import { fail } from '../../errors.ts';

/** Twice what a body may be: a record can grow by one update after the other. */
const longest = 16 * 1_048_576;
/** As many updates as a collection may have fields make no more than `longest` of values that are shorter. */
const short = 32_768;

/** About how many characters a record takes in an answer. */
export function lengthOf({ fields }: Pick<StoredRecord, 'fields'>): number {
  return lengthOfValues(Object.values(fields));
}

/** The most that the records of one batch may be together. */
const longestBatch = 64 * 1_048_576;

/** Adds what one write of a batch has written: all of it is held until the last one is done. Throws `400 validation`. */
export function addLength(length: number, records: readonly Pick<StoredRecord, 'fields'>[]): number {
  const sum = records.reduce((sum, record) => sum + lengthOf(record), length);
  if (sum > longestBatch) {
    fail('validation', 'requests: the records are too large to be written at once; send fewer');
  }
  return sum;
}

/** Whether a record may be longer than allowed once these of its values are stored. */
export function mayBeTooLong(values: readonly (Stored | null)[]): boolean {
  return lengthOfValues(values) > short;
}

/** Ends the request with `400` for values that are too long for one record. */
export function refuseTooLong(values: readonly unknown[]): void {
  if (lengthOfValues(values) > longest) {
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
