// Refuses updates by hook code that round a long number of a record, as `JSON.parse(JSON.stringify(data))` does unnoticed.
import { findRounded } from '../../storage/sql/exact-number.ts';
import { ApiError, failValidation } from '../errors.ts';
import type { RecordTarget } from '../records/collection.ts';
import { getRecord } from '../records/get.ts';
import type { RecordInput } from '../records/input/values.ts';
import { type PageMemory, withPageMemory } from '../records/page-memory.ts';
import type { Acting, CallScope } from './acting.ts';

/**
 * Throws `400 validation` when an update would store a number of the record as the nearest double. Reads the record only for a
 * field that can have such a number, and compares nothing that the caller may not read.
 */
export async function refuseRounded(
  { deps, app }: CallScope,
  { admit }: Acting,
  target: RecordTarget,
  { id, input }: { id: string; input: RecordInput },
): Promise<void> {
  const mayRound = target.collection.fields.some(({ name, kind }) => kind === 'json' && input[name] != null);
  if (!mayRound) return;
  const read = async () => {
    const access = await admit(target, 'get');
    const get = (memory: PageMemory) => getRecord(deps, target, { access, id, memory });
    return await withPageMemory(deps, app.workspace.id, get);
  };
  // The update itself says what is wrong with the id or the rights.
  const record = await read().catch((error: unknown) => {
    if (error instanceof ApiError && error.status < 500) return undefined;
    throw error;
  });
  const field = record === undefined ? undefined : findRounded(record.fields, input);
  if (field === undefined) return;
  const reason = 'the hook has rounded this number; copy it by { ...value }, or make it with JSON.rawJSON';
  failValidation([{ field, reason }]);
}
