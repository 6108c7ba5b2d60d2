// Tells those who watch a collection what was written: after the commit, once.
import type { AppDefinition } from '../../storage/definition.ts';
import type { StoredRecord } from '../../storage/record-plan.ts';
import type { ChangeType } from '../realtime/event.ts';
import type { Publisher } from '../realtime/ports.ts';
import type { Removal } from './cascade.ts';

/** A record that was written. */
export interface Written {
  type: ChangeType;
  record: StoredRecord;
  /** When the request arrived. */
  now: Date;
}

/** To be called as soon as a write is known to be committed: the order of the calls is the order of the events. */
export function announce(
  { realtime }: { realtime: Publisher },
  { workspace, id }: AppDefinition,
  { type, record, now }: Written,
): void {
  realtime.publish({ workspace: workspace.id, app: id, collection: record.collection }, {
    type,
    record,
    at: now,
  });
}

/** Everything that a deletion changed. */
export function writtenBy({ updated, deleted }: Removal, now: Date): Written[] {
  return [
    ...updated.map((record): Written => ({ type: 'record_updated', record, now })),
    ...deleted.map((record): Written => ({ type: 'record_deleted', record, now })),
  ];
}
