// The cache of records and totals: what it holds depends on whether this process knows of every write.
import type { RecordTarget } from '../collection.ts';
import type { ListTotal, Narrowing, RecordCache } from '../ports.ts';
import { CachedRecords } from './cached-records.ts';
import { readSetOf } from './read-set.ts';
import { SnapshotTotals, type Totals, TrackedTotals } from './totals.ts';
import { writeSetOf, writeSetOfUser } from './write-set.ts';
import type { WriteTracker } from './write-tracker.ts';

/** The cache of the only process that writes to a cluster. */
export function trackingCache(tracker: WriteTracker): RecordCache {
  const records = new CachedRecords(tracker);
  const totals = new TrackedTotals(tracker);
  return {
    find: (target, id, read) => records.find(target, id, read),
    total: (target, narrowing) => totalIn(totals, target, narrowing),
    track: (app, changes, write) => tracker.track(writeSetOf(app, changes), write),
    trackUserDeletion: (database, write) => tracker.track(writeSetOfUser(database), write),
  };
}

/** The cache of a process that does not know of every write. It holds totals alone, each with the snapshot that it is of. */
export function snapshotCache(): RecordCache {
  const totals = new SnapshotTotals();
  return {
    find: (_target, _id, read) => read(),
    total: (target, narrowing) => totalIn(totals, target, narrowing),
    track: (_app, _changes, write) => write(),
    trackUserDeletion: (_database, write) => write(),
  };
}

function totalIn(totals: Totals, target: RecordTarget, narrowing: Narrowing): ListTotal {
  const readSet = readSetOf(target, narrowing);
  return {
    needsSnapshot: totals.needsSnapshot(readSet),
    get: (list, countNow) => totals.get({ ...list, readSet }, countNow),
  };
}
