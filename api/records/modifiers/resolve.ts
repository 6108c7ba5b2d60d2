// Updates with modifiers: the record is read, what the modifiers make of it is stored, and both are one step for others.
import { selectChecked } from '../../../storage/app/records/records.ts';
import { selectVersion } from '../../../storage/app/records/versions.ts';
import { lockRecords } from '../../../storage/app/records/locks.ts';
import { transactionAsConnection } from '../../../storage/connections/transaction-as-connection.ts';
import { isUuid } from '../../../storage/sql/ids.ts';
import { type Access, refuse } from '../../rules/access.ts';
import type { RecordScope } from '../collection.ts';
import { failMissing } from '../get.ts';
import type { HookedInput } from '../hooks/rehearsal.ts';
import { checkFiles, refuseUnreachable, ruleRestriction } from '../relations/restrict.ts';
import { readChangedValues, type RecordInput } from '../input/values.ts';
import { addedItems, hasModifiers, modifiedValues, splitModifiers } from './modifiers.ts';

/** An update that may have modifiers. */
export interface ModifyingUpdate {
  access: Access;
  id: string;
  input: RecordInput;
  hooked?: HookedInput;
  version?: string;
}

/** True when an update may have modifiers. */
export function isModifying({ input, hooked }: Pick<ModifyingUpdate, 'input' | 'hooked'>): boolean {
  return hasModifiers(input) || hooked !== undefined && hasModifiers(hooked.body);
}

/** Reading and writing happen so often without a lock: rules decide on what was read. */
const maxAttempts = 2;

/**
 * Does an update with the values that its modifiers make. `update` returns undefined when the record is of another version
 * by then; it is read again, in the end under a lock.
 */
export async function updateModified<Update extends ModifyingUpdate, Result>(
  scope: RecordScope,
  update: Update,
  store: (connection: RecordScope['connection'], plain: Update) => Promise<Result | undefined>,
): Promise<Result | undefined> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const updated = await store(scope.connection, await resolveModifiers(scope, update));
    if (updated !== undefined || update.version !== undefined) return updated;
  }
  // The rule has admitted the caller, who may hold up others for so long.
  return await scope.connection.transaction(async (sql) => {
    const connection = transactionAsConnection(sql);
    await lockRecords(sql, scope.plan.table, [update.id]);
    return await store(connection, await resolveModifiers({ ...scope, connection }, update));
  });
}

/**
 * The update with values in the place of modifiers, for the version of the record that they were made of. Throws `404`,
 * `400 validation` for members that are wrong whatever the record has, and `401` or `403` when the rule does not admit it.
 */
export async function resolveModifiers<Update extends ModifyingUpdate>(
  scope: RecordScope,
  update: Update,
): Promise<Update> {
  if (!isModifying(update)) return update;
  const { access, id, input, hooked, version } = update;
  const { plan, connection, target } = scope;
  if (!isUuid(id)) failMissing(id);
  const found = await connection.run((sql) => selectVersion(sql, plan, id)) ?? failMissing(id);
  const written = splitModifiers(plan, input);
  const body = hooked === undefined ? written : splitModifiers(plan, hooked.body);
  readChangedValues(plan, written.plain, written.errors);
  const resolved = { ...body.plain, ...modifiedValues(found.record, body.modifiers) };
  // Before the limits of the result, which say something about the record.
  const rule = ruleRestriction(access, target, resolved);
  if (rule !== undefined) {
    const checked = await connection.run((sql) => selectChecked(sql, plan, id, rule));
    if (checked === undefined) failMissing(id);
    if (!checked.passes) refuse(access);
  }
  // Of a field that holds many, only what is added must be readable to the caller.
  const added = addedItems(plan, written.modifiers);
  await refuseUnreachable(access, scope, await checkFiles(access, scope, added));
  const names = written.modifiers.map(({ name }) => name);
  return {
    ...update,
    input: { ...written.plain, ...modifiedValues(found.record, written.modifiers) },
    hooked: { body: resolved, fields: new Set([...names, ...hooked?.fields ?? []]) },
    version: version ?? found.version,
  };
}
