// Reading one record.
import { isUuid } from '../../storage/ids.ts';
import { selectRecord } from '../../storage/records.ts';
import { fail } from '../errors.ts';
import { onCollection, type RecordDeps, type RecordTarget } from './collection.ts';
import { type RecordAnswer, refuseUnbuilt, selectionOf } from './selection.ts';

/** Which record, and which of its fields. */
export interface RecordLookup {
  id: string;
  /** As in the query: names separated by commas. */
  fields?: string | undefined;
  expand?: string | undefined;
}

/** Answers a record. Throws `404` when there is none, `400 unknown_column` for a field that does not exist. */
export async function getRecord(
  deps: RecordDeps,
  target: RecordTarget,
  { id, fields, expand }: RecordLookup,
): Promise<RecordAnswer> {
  refuseUnbuilt({ expand });
  if (!isUuid(id)) failMissing(id);
  return await onCollection(deps, target, async ({ plan, connection }) => {
    const select = selectionOf(plan, fields);
    const record = await connection.run((sql) => selectRecord(sql, plan, id)) ?? failMissing(id);
    return select(record);
  });
}

/** Ends the request with `404`: there is no such record. */
export function failMissing(id: string): never {
  fail('not_found', `record "${id.slice(0, 100)}" does not exist`);
}
