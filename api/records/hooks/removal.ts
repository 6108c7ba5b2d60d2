// Hooks around a deletion: of every record that is deleted, and of every one that loses a value.
import { unboundedAccess } from '../../rules/access.ts';
import { requireCollection } from '../../target.ts';
import { type WriteContext, writeScope } from '../write-context.ts';
import type { EmptiedRecord, Removal } from '../relations/cascade.ts';
import { applyUpdate } from '../update.ts';
import { applyHookChanges, type Rehearsal } from './rehearsal.ts';

/** A deletion within a transaction, and its time. */
export interface RehearsedRemoval {
  now: Date;
  remove(): Promise<Removal>;
}

/** Deletes within a transaction, with the hooks of every record that is deleted or loses a value. */
export async function rehearseRemoval(
  rehearsal: Rehearsal | undefined,
  context: WriteContext,
  { now, remove }: RehearsedRemoval,
): Promise<Removal> {
  const removal = await remove();
  if (rehearsal === undefined) return removal;
  const { deleted, updated } = removal;
  const deletions = deleted.map((record) =>
    ({ action: 'delete', collection: record.collection, record, previous: null }) as const
  );
  // A veto of the deletion that the caller asked for comes before one of its consequences.
  for (const deletion of deletions) rehearsal.hookChanges(deletion);
  const emptied: EmptiedRecord[] = [];
  for (const record of updated) emptied.push(await updateEmptied(rehearsal, context, { ...record, now }));
  // After-hooks run in the order of the events.
  for (const deletion of deletions) rehearsal.addDone(deletion);
  return { deleted, updated: emptied };
}

/** A record that has lost a value, with the changes that its hooks make to other fields. */
async function updateEmptied(
  rehearsal: Rehearsal,
  context: WriteContext,
  { record, previous, now }: EmptiedRecord & { now: Date },
): Promise<EmptiedRecord> {
  const { app } = context;
  const { collection } = record;
  const write = { action: 'update', collection, record, previous } as const;
  const changes = rehearsal.hookChanges(write);
  const scope = writeScope(context, { app, collection: requireCollection(app, collection) });
  const update = { access: unboundedAccess('update', now), id: record.id, now };
  const changed = changes === undefined
    ? record
    : (await applyUpdate(scope, { ...update, ...applyHookChanges({}, changes) }))?.record ?? record;
  rehearsal.addDone({ ...write, record: changed });
  return { record: changed, previous };
}
