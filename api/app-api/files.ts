// Files for hook code: whole, and no larger than a frame carries.
import type { Bytes, HookFileInfo } from '../../hook-runner/calls.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import type { FileRow } from '../../storage/app/files.ts';
import type { Deps } from '../deps.ts';
import { fail, nullIfNotFound } from '../errors.ts';
import { blobKey, requireFile } from '../files/access.ts';
import { parseFilename } from '../files/filename.ts';
import { parseMediaType } from '../files/media-type.ts';
import { removeStored } from '../files/remove.ts';
import { upload } from '../files/upload.ts';
import { encodeBytes, toBuffer } from '../hooks/rpc/inbound-values.ts';
import type { RecordCaller } from '../hooks/ports.ts';

/** The largest file that hook code can read. As base64 it must fit into the responses of one run. */
const maxBytes = 1_048_576;

/** Reads a file with its bytes; null when there is none. Throws `hook_error` when it is too large. */
export async function readForHook(
  deps: Pick<Deps, 'databases' | 'blobs'>,
  app: AppDefinition,
  id: string,
): Promise<(HookFileInfo & { body: Bytes }) | null> {
  const file = await requireFile(deps, app, id).catch(nullIfNotFound);
  if (file === null) return null;
  if (file.size > maxBytes) fail('hook_error', `the file has more than ${maxBytes} bytes`);
  const parts: Buffer[] = [];
  for await (const part of await deps.blobs.open(blobKey(app, file.id))) parts.push(part);
  return { ...shown(file), body: encodeBytes(Buffer.concat(parts)) };
}

/** Stores a file. Throws `413` when it is larger than the policy `storage.max_upload_mb` allows. */
export async function storeForHook(
  deps: Parameters<typeof upload>[0] & Pick<Deps, 'now'>,
  app: AppDefinition,
  { filename, mime, body }: { filename: string; mime: string; body: Bytes },
): Promise<HookFileInfo> {
  const bytes = toBuffer(body);
  const file = await upload(deps, app, {
    filename: parseFilename(encodeURIComponent(filename.toWellFormed())),
    mime: parseMediaType(mime),
    uploadedBy: null,
    announced: bytes.length,
    bytes: once(bytes),
    now: deps.now(),
  });
  return shown(file);
}

/** Deletes a file. Throws what `removeStored` throws. */
export async function deleteForHook(
  deps: Parameters<typeof removeStored>[0] & Pick<Deps, 'now'>,
  app: AppDefinition,
  { id, caller }: { id: string; caller: RecordCaller },
): Promise<null> {
  const file = await requireFile(deps, app, id);
  await removeStored(deps, app, { id: file.id, caller, now: deps.now() });
  return null;
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function shown({ id, filename, mime, size, created_at }: FileRow): HookFileInfo {
  return { id, filename, mime, size, created_at: created_at.toISOString() };
}
