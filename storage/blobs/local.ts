// Blobs in a directory: <root>/<database>/<schema>/<id>.
import { createReadStream } from 'node:fs';
import { type FileHandle, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { errorCode, isDiskFull, unlessMissing } from '../sql/error-code.ts';
import { isUuid } from '../sql/ids.ts';
import { syncFolder } from './sync-folder.ts';
import { FairQueue } from '../concurrency/fair-queue.ts';
import {
  type BlobKey,
  type BlobLocation,
  BlobMissing,
  type BlobRange,
  type BlobStore,
  DiskFull,
  type GiveWay,
  type ListedBlob,
} from './blob-store.ts';
import { release } from './release.ts';

const partSuffix = '.part';
/** A file is synchronized in pieces. All at once would keep a core in the kernel for noticeably long. */
const syncBytes = 512 * 1024;
const opaque = /^[wa]_[0-9a-f]{20}$/;

/** Stores blobs below `root`, which only the server's own user may enter. */
export class LocalBlobs implements BlobStore {
  readonly #root: string;
  readonly #giveWay: GiveWay;
  /**
   * Many uploads at once would take whole turns of the event loop and all threads for writes, and everything else would
   * wait. Workspaces take turns: on a slow disk, a hundred uploads of one would block all others for seconds.
   */
  readonly #writes = new FairQueue({ slots: 1 });
  readonly #syncs = new FairQueue({ slots: 1 });

  /** `giveWay` is called before each chunk is written. */
  constructor(root: string, giveWay: GiveWay = () => undefined) {
    this.#root = root;
    this.#giveWay = giveWay;
  }

  /**
   * Writes under another name, synchronizes, then renames: under its own name the file is complete, also after a power
   * cut. The directory is synchronized too, since the rename must last.
   */
  async put(key: BlobKey, bytes: AsyncIterable<Uint8Array>): Promise<{ size: number }> {
    const path = this.#path(key);
    const directory = dirname(path);
    const part = path + partSuffix;
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const size = await this.#write({ path: part, owner: key.database }, bytes);
      await rename(part, path);
      await syncFolder(directory);
      return { size };
    } catch (error) {
      await rm(part, { force: true });
      if (isDiskFull(error)) throw new DiskFull(error);
      // The directory was removed during the write.
      throw errorCode(error) === 'ENOENT' ? new BlobMissing(key.id) : error;
    }
  }

  async open(key: BlobKey, range?: BlobRange): Promise<Readable> {
    const file = await unlessMissing(open(this.#path(key), 'r'));
    if (file === undefined) throw new BlobMissing(key.id);
    return createReadStream('', { fd: file, ...range, highWaterMark: 256 * 1024 });
  }

  async remove(key: BlobKey): Promise<void> {
    await rm(this.#path(key), { force: true });
  }

  async removeAll({ database, schema }: { database: string; schema?: string }): Promise<void> {
    const path = schema === undefined ? this.#under(database) : this.#under(database, schema);
    await rm(path, { recursive: true, force: true });
  }

  /** As links: blobs never change, and each name of one can be removed by itself. */
  async copyAll(from: BlobLocation, to: BlobLocation): Promise<void> {
    const [source, target] = [from, to].map(({ database, schema }) => this.#under(database, schema));
    if (source === undefined || target === undefined) return;
    const ids = (await names(source)).filter(isUuid);
    if (ids.length === 0) return;
    await mkdir(target, { recursive: true, mode: 0o700 });
    // A blob may be removed meanwhile.
    for (const id of ids) await unlessMissing(link(join(source, id), join(target, id)));
    await syncFolder(target);
  }

  async *apps(database: string): AsyncIterable<string> {
    for (const schema of await names(this.#under(database))) {
      if (opaque.test(schema)) yield schema;
    }
  }

  async *list({ database, schema }: BlobLocation, abandoned: Date): AsyncIterable<ListedBlob> {
    const directory = this.#under(database, schema);
    for (const name of await names(directory)) {
      const path = join(directory, name);
      const found = await unlessMissing(stat(path));
      if (found === undefined) continue;
      if (isUuid(name)) yield { id: name, modified: found.mtime };
      else if (name.endsWith(partSuffix) && found.mtime < abandoned) await rm(path, { force: true });
    }
  }

  async #write(
    { path, owner }: { path: string; owner: string },
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<number> {
    const file = await open(path, 'wx', 0o600);
    const inTurn = (queue: FairQueue, work: () => Promise<void>) =>
      queue.run(async () => {
        await this.#giveWay();
        await work();
      }, owner);
    try {
      let size = 0;
      let synchronized = 0;
      for await (const chunk of bytes) {
        await inTurn(this.#writes, () => writeAll(file, chunk));
        size += chunk.byteLength;
        release(chunk);
        if (size - synchronized < syncBytes) continue;
        synchronized = size;
        await inTurn(this.#syncs, () => file.datasync());
      }
      await inTurn(this.#syncs, () => file.sync());
      return size;
    } finally {
      await file.close();
    }
  }

  #path({ database, schema, id }: BlobKey): string {
    if (!isUuid(id)) throw new RangeError('not the id of a file');
    return join(this.#under(database, schema), id);
  }

  #under(...parts: string[]): string {
    if (!parts.every((part) => opaque.test(part))) throw new RangeError('not a place of ours');
    return join(this.#root, ...parts);
  }
}

/** A write may take less than it was given. */
async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.byteLength;) {
    const { bytesWritten } = await file.write(chunk, at, chunk.byteLength - at);
    at += bytesWritten;
  }
}

async function names(directory: string): Promise<string[]> {
  return await unlessMissing(readdir(directory)) ?? [];
}
