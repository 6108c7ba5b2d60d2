// Blobs in a bucket of an S3 API: <database>/<schema>/<id>. Loaded only where that backend is configured.
import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import {
  AbortMultipartUploadCommand,
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandInput,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { isUuid } from '../sql/ids.ts';
import {
  type BlobKey,
  type BlobLocation,
  BlobMissing,
  type BlobRange,
  type BlobStore,
  type GiveWay,
  type ListedBlob,
  StoreUnavailable,
} from './blob-store.ts';
import { behind, failEndless, isMissing, isUnknownToStore, only } from './s3-responses.ts';
import { openClients, type S3Access, type S3Clients, withSilenceLimit } from './s3-clients.ts';

/** The smallest part that a multipart upload may have. One part at a time is held in memory. */
const partBytes = 5 * 1024 * 1024;
const silenceTimeoutMs = 5_000;
const copiesAtOnce = 16;

/** The beginning of a page of unfinished uploads. */
type Place = Pick<ListMultipartUploadsCommandInput, 'KeyMarker' | 'UploadIdMarker'>;

/** Stores blobs in a bucket. A blob appears when its upload is complete. */
export class S3Blobs implements BlobStore {
  readonly #clients: S3Clients;
  readonly #bucket: string;
  readonly #giveWay: GiveWay;
  readonly #silence: number;

  /** `giveWay` is called before each chunk is processed. `silence` is the timeout for a silent store. */
  constructor(access: S3Access, giveWay: GiveWay = () => undefined, silence = silenceTimeoutMs) {
    this.#clients = openClients(access, silence);
    this.#bucket = access.bucket;
    this.#giveWay = giveWay;
    this.#silence = silence;
  }

  async put(key: BlobKey, bytes: AsyncIterable<Uint8Array>): Promise<{ size: number }> {
    const source = { size: 0, failure: undefined as unknown };
    const params = {
      Bucket: this.#bucket,
      Key: blobName(key),
      Body: Readable.from(this.#watched(bytes, source)),
    };
    try {
      await new Upload({ client: this.#clients.writer, params, partSize: partBytes, queueSize: 1 })
        .done();
    } catch (error) {
      // The caller gets the error that stopped the upload, even if the store could not clean up.
      if (source.failure !== undefined) throw source.failure;
      if (!(error instanceof S3ServiceException) || error.name !== 'NoSuchUpload') {
        throw new StoreUnavailable(error);
      }
      // Also that of a completed upload whose response was lost and which was requested again.
      if (await this.#sizeOf(key) !== source.size) throw new BlobMissing(key.id);
    }
    return { size: source.size };
  }

  /** Undefined when there is no such blob. */
  async #sizeOf(key: BlobKey): Promise<number | undefined> {
    try {
      const head = new HeadObjectCommand({ Bucket: this.#bucket, Key: blobName(key) });
      return (await this.#clients.writer.send(head)).ContentLength;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw new StoreUnavailable(error);
    }
  }

  async open(key: BlobKey, range?: BlobRange): Promise<Readable> {
    const asked = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` };
    try {
      const { Body } = await this.#clients.reader.send(
        new GetObjectCommand({ Bucket: this.#bucket, Key: blobName(key), ...asked }),
      );
      if (Body instanceof Readable) return withSilenceLimit(Body, this.#silence);
    } catch (error) {
      if (!isMissing(error)) throw new StoreUnavailable(error);
    }
    throw new BlobMissing(key.id);
  }

  async remove(key: BlobKey): Promise<void> {
    await this.#clients.writer.send(
      new DeleteObjectCommand({ Bucket: this.#bucket, Key: blobName(key) }),
    );
  }

  async removeAll({ database, schema }: { database: string; schema?: string }): Promise<void> {
    const prefix = schema === undefined ? `${database}/` : `${database}/${schema}/`;
    for await (const { Key, UploadId } of this.#unfinished(prefix)) await this.#abort(Key, UploadId);
    const kept: string[] = [];
    let all = 0;
    for await (const page of this.#pages(prefix)) {
      const Objects = page.map(({ Key }) => ({ Key }));
      if (Objects.length === 0) continue;
      const { Errors = [] } = await this.#clients.keeper.send(
        new DeleteObjectsCommand({ Bucket: this.#bucket, Delete: { Objects, Quiet: true } }),
      );
      all += Objects.length;
      kept.push(...Errors.map(({ Code }) => Code ?? 'no reason'));
    }
    if (kept.length > 0) throw new Error(`the store kept ${kept.length} of ${all} blobs: ${kept[0]}`);
  }

  /** In the store itself: no bytes come here. */
  async copyAll(from: BlobLocation, to: BlobLocation): Promise<void> {
    const prefix = `${from.database}/${from.schema}/`;
    for await (const page of this.#pages(prefix)) {
      const ids = page.map(({ Key = '' }) => Key.slice(prefix.length)).filter(isUuid);
      while (ids.length > 0) {
        await Promise.all(ids.splice(0, copiesAtOnce).map((id) => this.#copy(prefix + id, { ...to, id })));
      }
    }
  }

  async #copy(source: string, to: BlobKey): Promise<void> {
    const CopySource = `${this.#bucket}/${source}`;
    try {
      await this.#clients.keeper.send(
        new CopyObjectCommand({ Bucket: this.#bucket, Key: blobName(to), CopySource }),
      );
    } catch (error) {
      if (!isMissing(error)) throw new StoreUnavailable(error);
    }
  }

  async *apps(database: string): AsyncIterable<string> {
    const seen = new Set<string>();
    for await (const name of this.#names(`${database}/`)) {
      const schema = name.split('/')[1] ?? '';
      if (schema === '' || seen.has(schema)) continue;
      seen.add(schema);
      yield schema;
    }
  }

  async *list({ database, schema }: BlobLocation, abandoned: Date): AsyncIterable<ListedBlob> {
    const prefix = `${database}/${schema}/`;
    for await (const { Key, UploadId, Initiated } of this.#unfinished(prefix)) {
      if (Initiated !== undefined && Initiated < abandoned) await this.#abort(Key, UploadId);
    }
    for await (const page of this.#pages(prefix)) {
      for (const { Key = '', LastModified } of page) {
        const id = Key.slice(prefix.length);
        if (isUuid(id) && LastModified !== undefined) yield { id, modified: LastModified };
      }
    }
  }

  /** Names of blobs and of unfinished uploads. */
  async *#names(prefix: string): AsyncIterable<string> {
    for await (const page of this.#pages(prefix)) yield* page.map(({ Key = '' }) => Key);
    for await (const { Key = '' } of this.#unfinished(prefix)) yield Key;
  }

  async *#pages(Prefix: string) {
    let ContinuationToken: string | undefined;
    do {
      const page = await this.#clients.keeper.send(
        new ListObjectsV2Command({
          Bucket: this.#bucket,
          Prefix,
          ...(ContinuationToken === undefined ? {} : { ContinuationToken }),
        }),
      );
      yield only(page.Contents, Prefix);
      const next = page.IsTruncated === true ? page.NextContinuationToken : undefined;
      if (next !== undefined && next === ContinuationToken) failEndless(Prefix);
      ContinuationToken = next;
    } while (ContinuationToken !== undefined);
  }

  async *#unfinished(Prefix: string) {
    const Bucket = this.#bucket;
    let place: Place | undefined = {};
    while (place !== undefined) {
      const page: ListMultipartUploadsCommandOutput | undefined = await this.#clients.keeper
        .send(new ListMultipartUploadsCommand({ Bucket, Prefix, ...place }))
        .catch((error: unknown) => isUnknownToStore(error) ? undefined : Promise.reject(error));
      yield* only(page?.Uploads, Prefix);
      const next: Place | undefined = page?.IsTruncated === true ? behind(page) : undefined;
      if (next !== undefined && isDeepStrictEqual(next, place)) failEndless(Prefix);
      place = next;
    }
  }

  /** Counts what passes through, and keeps the error of the source. */
  async *#watched(bytes: AsyncIterable<Uint8Array>, source: { size: number; failure: unknown }) {
    // While a chunk is out, an error comes from the reader: a failed upload ends its source that way.
    let isOut = false;
    try {
      for await (const chunk of bytes) {
        await this.#giveWay();
        source.size += chunk.byteLength;
        isOut = true;
        yield chunk;
        isOut = false;
      }
    } catch (error) {
      if (!isOut) source.failure = error;
      throw error;
    }
  }

  async #abort(Key: string | undefined, UploadId: string | undefined): Promise<void> {
    await this.#clients.keeper.send(new AbortMultipartUploadCommand({ Bucket: this.#bucket, Key, UploadId }));
  }
}

function blobName({ database, schema, id }: BlobKey): string {
  if (!isUuid(id)) throw new RangeError('not the id of a file');
  return `${database}/${schema}/${id}`;
}
