// The cache of records, as the features that read and write records know it.
import type { FileRow } from '../../storage/app/files.ts';
import type { AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import type { Condition } from '../../storage/app/filter/condition.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';
import type { CountedRecords, CountStatement } from '../../storage/app/records/records.ts';
import type { WriteAction } from '../hooks/ports.ts';

/** A collection and the app that it is in. */
interface Target {
  app: AppDefinition;
  collection: CollectionDefinition;
}

/** A change that a write is about to make, as far as it is known before. */
export type IntendedChange = IntendedRecordChange | { action: 'delete_file' };

/** A change of a record. */
interface IntendedRecordChange {
  action: WriteAction;
  collection: string;
  /** Undefined where it is not known before. */
  id: string | undefined;
}

/** The conditions that a list of records is narrowed by. */
export interface Narrowing {
  rule: Condition;
  filter: Condition | undefined;
  /** True when the filter looks through relations only at what the rules of their collections admit. */
  guarded: boolean;
}

/** The number of all records of a list. */
export interface ListTotal {
  /** True when the list has to be read with the snapshot that it saw, without which its total is not cached. */
  readonly needsSnapshot: boolean;
  /** The total, counted where it is not cached. `snapshot`: that of the list, if it was read with one. */
  get(
    list: { count: CountStatement; snapshot: string | undefined },
    countNow: () => Promise<CountedRecords>,
  ): Promise<number>;
}

/**
 * Records and totals that were read before. They are never older than the last write that was acknowledged: every write goes
 * through `track` (`write.ts` sees to it), and what cannot be known to be right is not cached.
 */
export interface RecordCache {
  /** The record with this id (a UUID), read by `read` where it is not cached. It is shared: nobody may change it. */
  find(
    target: Target,
    id: string,
    read: () => Promise<StoredRecord | undefined>,
  ): StoredRecord | undefined | Promise<StoredRecord | undefined>;
  /** The total of a list of these records. */
  total(target: Target, narrowing: Narrowing): ListTotal;
  /** Runs a write in an app. Throws what it throws, and `404 not_found` for a collection that is not there. */
  track<Result>(
    app: AppDefinition,
    changes: readonly IntendedChange[],
    write: () => Promise<Result>,
  ): Promise<Result>;
  /** Runs the deletion of a user, which may write in all apps of its workspace's database. Throws what it throws. */
  trackUserDeletion<Result>(database: string, write: () => Promise<Result>): Promise<Result>;
}

/** A file in the expansion of a record, with a link by which anybody may read it for some minutes. */
export interface ExpandedFile extends Pick<FileRow, 'id' | 'filename' | 'mime' | 'size'> {
  created_at: string;
  url: string;
  expires_at: string;
}

/** Shows files in expansions. */
export interface FileLinks {
  /** The file with a new link, for a caller who may read it. */
  show(app: AppDefinition, file: FileRow): ExpandedFile;
}

/** The files of records that were deleted. */
export interface UnheldFiles {
  /** Deletes those that no record holds any more, where their fields say so. Throws nothing. */
  remove(app: AppDefinition, deleted: readonly StoredRecord[]): Promise<void>;
  /** Deletes those of these files that no record holds. Throws nothing. */
  removeIds(app: AppDefinition, ids: readonly string[]): Promise<void>;
}
