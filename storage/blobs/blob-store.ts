// The store of files' bytes: one interface for all backends.
import type { Readable } from 'node:stream';

/** The location of an app's blobs: the opaque names of its workspace's database and of its schema. */
export interface BlobLocation {
  database: string;
  schema: string;
}

/** One blob. `id` is the file's, a UUID made by the server. No text of a client is part of any name. */
export interface BlobKey extends BlobLocation {
  id: string;
}

/** A range of bytes, both ends inclusive. */
export interface BlobRange {
  start: number;
  end: number;
}

/** A blob in a listing. */
export interface ListedBlob {
  id: string;
  /** The time of its last write. */
  modified: Date;
}

/**
 * Called before each chunk is processed: resolves when no other work should come first; undefined when that is so at
 * once.
 */
export type GiveWay = () => Promise<void> | undefined;

/** Stores blobs, which never change. Every method may throw what its backend throws. */
export interface BlobStore {
  /**
   * Stores the bytes as they come, durably once it resolves. When it rejects, as it does when `bytes` throws, nothing
   * is left but what a crash would leave for the sweep. The chunks belong to the store, which may release their memory.
   * Throws `DiskFull`, `StoreUnavailable`, and `BlobMissing` when it notices that everything of the app was removed
   * meanwhile.
   */
  put(key: BlobKey, bytes: AsyncIterable<Uint8Array>): Promise<{ size: number }>;
  /** The bytes, or a range of them. Throws `BlobMissing`, `StoreUnavailable`; so does reading. */
  open(key: BlobKey, range?: BlobRange): Promise<Readable>;
  /** Removes a blob. A missing one is no error. */
  remove(key: BlobKey): Promise<void>;
  /** Removes everything of a workspace, or of one app of it. */
  removeAll(place: { database: string; schema?: string }): Promise<void>;
  /** Copies all blobs of an app to another, at once as links where the store can. Those that come meanwhile may be missing. */
  copyAll(from: BlobLocation, to: BlobLocation): Promise<void>;
  /** Schemas of a workspace's apps that have blobs or unfinished uploads. */
  apps(database: string): AsyncIterable<string>;
  /** Every blob of an app. Removes unfinished uploads without a write since `abandoned` on the way. */
  list(place: BlobLocation, abandoned: Date): AsyncIterable<ListedBlob>;
}

/** The error of a full disk. */
export class DiskFull extends Error {
  constructor(cause: unknown) {
    super('there is no room left for files', { cause });
    this.name = 'DiskFull';
  }
}

/** The error of a store that is unreachable, silent, or refuses. Only its operator can change that. */
export class StoreUnavailable extends Error {
  constructor(cause: unknown) {
    super(`the store of files cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.name = 'StoreUnavailable';
  }
}

/** The error of a blob that does not exist. */
export class BlobMissing extends Error {
  constructor(id: string) {
    super(`there are no bytes of file ${id}`);
    this.name = 'BlobMissing';
  }
}
