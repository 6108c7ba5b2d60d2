// Creates in a batch that change the record which is there.
import { selectIdByValues } from '../../../storage/app/records/records.ts';
import { planFor } from '../../../storage/app/records/plan.ts';
import type { Connection } from '../../../storage/connections/pool.ts';
import { ApiError } from '../../errors.ts';
import type { Access } from '../../rules/access.ts';
import type { RecordTarget } from '../collection.ts';
import { type BatchWrite, requestName } from '../input/batch-requests.ts';
import { withErrorPrefix } from '../input/error-prefix.ts';
import type { RecordInput } from '../input/values.ts';
import { isRecordMissing, isTaken, uniqueNames, uniqueValues } from './upsert.ts';

/** The create that an update takes the place of: it must be allowed in any case. */
export interface ReplacedCreate {
  access: Access;
  input: RecordInput;
  /** The unique fields. */
  names: readonly string[];
  /** What admitting the update threw: to be thrown once the create is known to be allowed, or it would tell of the record. */
  refusal?: unknown;
}

/** A write that may be an update in place of a create. */
interface Write {
  target: RecordTarget;
  access: Access;
  write: BatchWrite;
  replaced?: ReplacedCreate | undefined;
}

/** Others have created or deleted the record of a create with `on_conflict`: the batch is to begin again. */
class UpsertRace extends Error {
  /** The error of the batch if it does not. */
  readonly error: ApiError;

  constructor(error: ApiError) {
    super(error.message);
    this.error = error;
  }
}

/**
 * Makes updates of the creates with `on_conflict` whose record is there, or is created earlier in the batch. Throws `400
 * validation` for fields that are not unique together.
 */
export async function resolveUpserts<Each extends Write>(
  writes: readonly Each[],
  { connection, admitUpdate }: {
    connection: Connection;
    admitUpdate: (target: RecordTarget) => Promise<Access>;
  },
): Promise<Each[]> {
  const resolved: Each[] = [];
  for (const [index, each] of writes.entries()) {
    const { target, access, write } = each;
    const names = namesOf(each, `${requestName(index)}.on_conflict`);
    if (names === undefined || write.method !== 'POST') {
      resolved.push(each);
      continue;
    }
    resolved.push(
      await withErrorPrefix(requestName(index), async () => {
        const id = await findRecord(resolved, { target, names, input: write.input, connection });
        if (id === undefined) return each;
        const { id: _given, ...input } = write.input;
        const update: BatchWrite = { method: 'PATCH', id, input };
        const replaced: ReplacedCreate = { access, input: write.input, names };
        try {
          return { ...each, access: await admitUpdate(target), write: update, replaced };
        } catch (refusal) {
          return { ...each, write: update, replaced: { ...replaced, refusal } };
        }
      }),
    );
  }
  return resolved;
}

/** The fields that `on_conflict` of a create names; undefined for another write. */
function namesOf({ target, write }: Write, member?: string): readonly string[] | undefined {
  if (write.method !== 'POST' || write.onConflict === undefined) return undefined;
  return uniqueNames(target, write.onConflict, member);
}

/** The id of the record with the same values: one that the batch creates before, or one that is stored. */
async function findRecord(
  before: readonly Write[],
  { target, names, input, connection }: {
    target: RecordTarget;
    names: readonly string[];
    input: RecordInput;
    connection: Connection;
  },
): Promise<string | undefined> {
  const { app, collection } = target;
  const plan = planFor(app.schema, collection);
  const wanted = uniqueValues(plan, names, input);
  if (wanted.some(({ value }) => value === null)) return undefined;
  const key = JSON.stringify(wanted);
  const earlier = before.find((each) =>
    each.target.collection.id === collection.id && each.write.method === 'POST' &&
    each.write.onConflict !== undefined &&
    JSON.stringify(uniqueValues(plan, names, each.write.input)) === key
  );
  if (earlier?.write.method === 'POST') {
    const { input, newId } = earlier.write;
    return typeof input['id'] === 'string' ? input['id'] : newId;
  }
  return await connection.run((sql) => selectIdByValues(sql, plan, wanted));
}

/** Does a write under its name. Throws `UpsertRace` when it fails for what others have done to its record meanwhile. */
export async function watchRace<Result>(
  each: Write,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  let isRace = false;
  try {
    return await withErrorPrefix(name, () =>
      work().catch((error: unknown) => {
        const names = namesOf(each);
        isRace = each.replaced !== undefined
          ? isRecordMissing(error)
          : names !== undefined && isTaken(error, names);
        throw error;
      }));
  } catch (error) {
    throw isRace && error instanceof ApiError ? new UpsertRace(error) : error;
  }
}

/** Others may create and delete the records meanwhile. */
const maxAttempts = 3;

/** Begins a batch again for races of its upserts. Throws what it throws, or the error of the last race. */
export async function retryRaces<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1;; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof UpsertRace)) throw error;
      if (attempt === maxAttempts) throw error.error;
    }
  }
}
