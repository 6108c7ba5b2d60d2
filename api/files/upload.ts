// Uploads: the bytes go to the blob store as they arrive, then the row is written.
import { BlobMissing, DiskFull } from '../../storage/blobs/blob-store.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import { mayBeDone } from '../../storage/errors.ts';
import { type FileRow, insertFile } from '../../storage/app/files.ts';
import type { Deps } from '../deps.ts';
import { logFailure } from '../logging/events.ts';
import { ApiError, fail } from '../errors.ts';
import { failNoApp } from '../target.ts';
import { blobKey } from './access.ts';

/** A file to be stored. */
export interface NewFile {
  filename: string;
  mime: string;
  /** The id of the end-user who uploads it; null for an admin or a hook. */
  uploadedBy: string | null;
  /** The length that the client announced, which may be wrong. */
  announced: number | undefined;
  bytes: AsyncIterable<Uint8Array>;
  /** Throws when the sender may no longer upload. Called for each chunk and at the end, which may be much later. */
  requireSender?: () => void;
  now: Date;
}

/** The parts that uploads need. */
export type UploadDeps = Pick<
  Deps,
  'databases' | 'blobs' | 'policies' | 'quotas' | 'uploadPace' | 'newId' | 'observe'
>;

const mebibyte = 1_048_576;

/**
 * Stores a file. The blob is durable before the row is written, so a row always has its bytes. A failure before that
 * leaves neither. Throws `413 payload_too_large` above policy `storage.max_upload_mb`, `413 quota_exceeded` above the
 * quotas of the app or its workspace, the errors of `requireSender`, `404 app_not_found` when the app was deleted meanwhile, `503
 * unavailable` when the disk is (almost) full or the store does not respond.
 */
export async function upload(deps: UploadDeps, app: AppDefinition, file: NewFile): Promise<FileRow> {
  const at = { workspace: app.workspace.id, app: app.id };
  const { max } = await deps.policies.range('storage.max_upload_mb', at);
  const cap = max * mebibyte;
  if (file.announced !== undefined && file.announced > cap) throw tooLarge(max);
  const bytes = { min: file.announced ?? 1, max: file.announced ?? cap };
  const claim = await deps.quotas.claimFile(app, bytes);
  // A client may not send more than it announced.
  const bound = claim.amount >= cap
    ? { cap, exceeded: () => tooLarge(max) }
    : { cap: claim.amount, exceeded: claim.exceeded };
  try {
    const pace = (bytes: number) => deps.uploadPace.take(app.workspace.id, bytes);
    const row = await store(deps, app, { ...file, bytes: capped(file, { ...bound, pace }) });
    claim.settle(row.size);
    return row;
  } catch (error) {
    claim.settle(undefined);
    throw error;
  }
}

async function store(deps: UploadDeps, app: AppDefinition, file: NewFile): Promise<FileRow> {
  const { databases, blobs, newId } = deps;
  const { workspace: { database }, schema } = app;
  const id = newId();
  const { size } = await blobs.put(blobKey(app, id), file.bytes).catch((error) => explain(deps, app, error));
  const row: FileRow = {
    id,
    filename: file.filename,
    mime: file.mime,
    size,
    uploaded_by: file.uploadedBy,
    created_at: file.now,
  };
  try {
    await databases.app(database, schema).run((sql) => insertFile(sql, schema, row));
  } catch (error) {
    // The row may still be committed, and then needs its bytes. Otherwise the sweep removes them.
    if (!mayBeDone(error)) await removeBytes(deps, app, id);
    throw error;
  }
  return row;
}

function explain({ observe }: Pick<Deps, 'observe'>, app: AppDefinition, error: unknown): never {
  if (error instanceof BlobMissing) failNoApp(app.id);
  if (!(error instanceof DiskFull)) throw error;
  // Logged, too, since only the operator can free space.
  observe({ type: 'background_failed', task: 'store a file', error: String(error.cause) });
  fail('unavailable', 'the server has no room left for files', [['Retry-After', '60']]);
}

/** Removes the bytes of a deleted file. After a failure the sweep removes them. */
export async function removeBytes(
  deps: Pick<Deps, 'blobs' | 'observe'>,
  app: AppDefinition,
  id: string,
): Promise<void> {
  await deps.blobs.remove(blobKey(app, id)).catch(logFailure(deps, 'remove the bytes of a file'));
}

/** Removes the bytes of all files of a deleted app. After a failure the sweep removes them. */
export async function removeAllBytes(
  deps: Pick<Deps, 'blobs' | 'observe'>,
  { workspace: { database }, schema }: AppDefinition,
): Promise<void> {
  await deps.blobs.removeAll({ database, schema })
    .catch(logFailure(deps, 'remove the files of an app'));
}

async function* capped(
  { bytes, requireSender }: Pick<NewFile, 'bytes' | 'requireSender'>,
  { cap, exceeded, pace }: { cap: number; exceeded: () => Error; pace: (bytes: number) => Promise<void> },
): AsyncIterable<Uint8Array> {
  let size = 0;
  for await (const chunk of bytes) {
    requireSender?.();
    size += chunk.byteLength;
    if (size > cap) throw exceeded();
    await pace(chunk.byteLength);
    yield chunk;
  }
  requireSender?.();
}

function tooLarge(max: number): ApiError {
  return new ApiError(
    'payload_too_large',
    `the file exceeds the ${max} MB that policy storage.max_upload_mb allows`,
  );
}
