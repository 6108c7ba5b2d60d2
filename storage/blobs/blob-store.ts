// Where the bytes of files are: one interface, whatever keeps them.
import type { Readable } from 'node:stream';

/** Where an app's blobs are: the opaque names of its workspace's database and of its schema. */
export interface BlobLocation {
  database: string;
  schema: string;
}

/** One blob: `id` is the file's, a UUID of our own making. No text of a client is part of any name. */
export interface BlobKey extends BlobLocation {
  id: string;
}

/** The bytes asked for, both inclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

/** A blob as a listing has it. */
export interface ListedBlob {
  id: string;
  /** When it was last written to. */
  modified: Date;
}

/** Asked before each chunk is taken up: resolves when nobody else need come first; undefined when that is so at once. */
export type GiveWay = () => Promise<void> | undefined;

/** Keeps blobs. They never change once they are there. Every method may throw whatever the backend throws. */
export interface BlobStore {
  /**
   * Stores the bytes as they come. Durable once it resolves; when it rejects (as it does when `bytes` throws), nothing
   * is left, at most what a crash would leave for the sweep. The chunks are the store's from then on: it may let go of
   * their memory. Throws `NoRoom` when the disk is full, `BlobMissing` when it notices that everything
   * of the app was removed meanwhile, `StoreAway`.
   */
  put(key: BlobKey, bytes: AsyncIterable<Uint8Array>): Promise<{ size: number }>;
  /** The bytes, or a range of them. Throws `BlobMissing`, `StoreAway`; so does reading. */
  open(key: BlobKey, range?: ByteRange): Promise<Readable>;
  /** Removes a blob; one that is not there is no error. */
  remove(key: BlobKey): Promise<void>;
  /** Removes everything of a workspace, or of one app of it. */
  removeAll(place: { database: string; schema?: string }): Promise<void>;
  /** Schemas of a workspace's apps that have something stored, also unfinished uploads. */
  apps(database: string): AsyncIterable<string>;
  /** Every blob of an app. Unfinished uploads that were not written to since `abandoned` are removed on the way. */
  list(place: BlobLocation, abandoned: Date): AsyncIterable<ListedBlob>;
}

/** There is no room for a blob. */
export class DiskFull extends Error {
  constructor(cause: unknown) {
    super('there is no room left for files', { cause });
    this.name = 'NoRoom';
  }
}

/** The store cannot be reached, says nothing or nothing of use, or refuses: only whoever runs the server can mend that. */
export class StoreUnavailable extends Error {
  constructor(cause: unknown) {
    super(`the store of files cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.name = 'StoreAway';
  }
}

/** There is no such blob. */
export class BlobMissing extends Error {
  constructor(id: string) {
    super(`there are no bytes of file ${id}`);
    this.name = 'BlobMissing';
  }
}
