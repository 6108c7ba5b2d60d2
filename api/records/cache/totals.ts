// Totals of lists, cached until a write can have made them wrong: they are exact, or not cached at all.
import type { CountedRecords, CountStatement } from '../../../storage/app/records/records.ts';
import { LruCache } from '../../process/lru-cache.ts';
import type { ReadSet } from './read-set.ts';
import type { WriteTracker } from './write-tracker.ts';

/** The total of a list that was read. */
export interface ListCount {
  count: CountStatement;
  /** Undefined when the total depends on something that is no table. */
  readSet: ReadSet | undefined;
  /** The snapshot that the list saw, if it was read with one. */
  snapshot: string | undefined;
}

/** A cache of totals. */
export interface Totals {
  /** True when a list has to be read with its snapshot, without which its total is not cached. */
  needsSnapshot(readSet: ReadSet | undefined): boolean;
  /** The total, counted where it is not cached. */
  get(list: ListCount, countNow: () => Promise<CountedRecords>): Promise<number>;
}

const maxParametersLength = 2_048;
const maxTotals = 4_096;

/** The key of a count; undefined when it is too long to be cached. */
function keyOf({ text, params }: CountStatement): string | undefined {
  const parameters = JSON.stringify(params);
  return parameters.length > maxParametersLength ? undefined : `${text}\n${parameters}`;
}

/**
 * The totals of a process beside which others write. A total holds for every statement that sees exactly the same of the
 * server's databases, so a write by anybody ends it, without a message.
 */
export class SnapshotTotals implements Totals {
  readonly #totals = new LruCache<CountedRecords>(maxTotals);

  needsSnapshot(readSet: ReadSet | undefined): boolean {
    return readSet !== undefined;
  }

  async get(
    { count, readSet, snapshot }: ListCount,
    countNow: () => Promise<CountedRecords>,
  ): Promise<number> {
    const key = readSet === undefined ? undefined : keyOf(count);
    if (key === undefined) return (await countNow()).total;
    const cached = this.#totals.get(key);
    if (cached !== undefined && cached.snapshot === snapshot) return cached.total;
    const counted = await countNow();
    this.#totals.set(key, counted);
    return counted.total;
  }
}

/** The totals of the only process that writes to a cluster. */
export class TrackedTotals implements Totals {
  readonly #tracker: WriteTracker;
  readonly #totals = new LruCache<{ total: number; version: number }>(maxTotals);
  /** Totals that depend on writes which are not tracked. */
  readonly #others = new SnapshotTotals();

  constructor(tracker: WriteTracker) {
    this.#tracker = tracker;
  }

  needsSnapshot(readSet: ReadSet | undefined): boolean {
    return readSet !== undefined && !readSet.isTracked;
  }

  async get(list: ListCount, countNow: () => Promise<CountedRecords>): Promise<number> {
    const { count, readSet } = list;
    if (readSet === undefined || !readSet.isTracked) return await this.#others.get(list, countNow);
    const name = keyOf(count);
    const version = this.#tracker.versionOf(readSet.tables);
    if (version === undefined || name === undefined) return (await countNow()).total;
    const key = `${readSet.versions}\n${name}`;
    const cached = this.#totals.get(key);
    if (cached?.version === version) return cached.total;
    const { total } = await countNow();
    // A write that has begun since may be in the total or not: nobody finds it under the version of before.
    this.#totals.set(key, { total, version });
    return total;
  }
}
