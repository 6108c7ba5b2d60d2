// A deletion with everything that goes with it, and what hooks have to say to each part of it.
import { unboundedAccess } from '../../rules/access.ts';
import { collectionOf } from '../../target.ts';
import { type WriteContext, writeScopeOf } from '../write-context.ts';
import type { Emptied, Removal } from '../relations/cascade.ts';
import { updateOn } from '../update.ts';
import { applyHookChanges, type Rehearsal } from './rehearsal.ts';

/** A deletion, and when it was asked for. */
export interface AskedRemoval {
  now: Date;
  remove(): Promise<Removal>;
}

/** Removes within a transaction, and where it is rehearsed asks about every record that goes or loses a value. */
export async function removeAsked(
  rehearsal: Rehearsal | undefined,
  context: WriteContext,
  { now, remove }: AskedRemoval,
): Promise<Removal> {
  const removal = await remove();
  if (rehearsal === undefined) return removal;
  const { deleted, updated } = removal;
  const deletions = deleted.map((record) =>
    ({ action: 'delete', collection: record.collection, record, previous: null }) as const
  );
  // A veto of what the caller asked for comes before one of what follows from it.
  for (const deletion of deletions) rehearsal.ask(deletion);
  const settled: Emptied[] = [];
  for (const emptied of updated) settled.push(await updateEmptied(rehearsal, context, { ...emptied, now }));
  // After-hooks run in the order of the events.
  for (const deletion of deletions) rehearsal.note(deletion);
  return { deleted, updated: settled };
}

/** A record that has lost what it pointed to; hooks may change other fields of it. */
async function updateEmptied(
  rehearsal: Rehearsal,
  context: WriteContext,
  { record, previous, now }: Emptied & { now: Date },
): Promise<Emptied> {
  const { app } = context;
  const { collection } = record;
  const question = { action: 'update', collection, record, previous } as const;
  const changes = rehearsal.ask(question);
  const scope = writeScopeOf(context, { app, collection: collectionOf(app, collection) });
  const update = { access: unboundedAccess('update', now), id: record.id, now };
  const settled = changes === undefined
    ? record
    : await updateOn(scope, { ...update, ...applyHookChanges({}, changes) }) ?? record;
  rehearsal.note({ ...question, record: settled });
  return { record: settled, previous };
}
