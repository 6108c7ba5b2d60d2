// Writes of records by form (`multipart/form-data`): files go to the store as they arrive, and their ids into the record.
import { fileFault } from '../../../storage/app/fields/file.ts';
import type { StoredRecord } from '../../../storage/app/records/plan.ts';
import type { Field } from '../../../storage/definition.ts';
import { requireKeyScope } from '../../contract/key-scopes.ts';
import type { FormStream } from '../../contract/route.ts';
import type { Deps } from '../../deps.ts';
import { ApiError, fail } from '../../errors.ts';
import type { RecordCaller } from '../../hooks/ports.ts';
import { readBoundary } from '../../http/multipart/part-headers.ts';
import { type FormPart, readParts } from '../../http/multipart/parts.ts';
import type { RecordTarget } from '../../records/collection.ts';
import type { RecordInput } from '../../records/input/values.ts';
import { uploader } from '../access.ts';
import { safeFilename } from '../filename.ts';
import { parseMediaType, requireUncoded } from '../media-type.ts';
import { upload, type UploadDeps } from '../upload.ts';
import { FormValues, refusePart } from './form-values.ts';

/** The most files that a form may have. */
const maxFiles = 100;

/** A body with the values of a record. */
export interface RecordBody {
  body: RecordInput;
  /** In the place of the body. */
  form: FormStream | undefined;
  caller: RecordCaller;
  now: Date;
}

/** The values of a record. */
export interface ReadBody {
  input: RecordInput;
  /** The ids of the files that came with a form and are stored. */
  uploaded?: ReadonlySet<string> | undefined;
}

/** Writes a record from a JSON body, which was read before, or from a form, as `writeByForm` does. */
export async function writeByBody(
  deps: UploadDeps & Pick<Deps, 'unheldFiles'>,
  target: RecordTarget,
  { body, form, ...rest }: RecordBody,
  write: (read: ReadBody) => Promise<StoredRecord>,
): Promise<StoredRecord> {
  return form === undefined
    ? await write({ input: body })
    : await writeByForm(deps, target, { form, ...rest }, write);
}

type RecordForm = Omit<RecordBody, 'body'> & { form: FormStream };

/**
 * Reads a form and writes its record. When that fails, and where hooks have put something else into a field, the files of the form
 * are deleted. Throws what `write` and `upload` throw, `400 validation` and `422 deserialization` for a wrong form, `413
 * payload_too_large` for one with too much in it.
 */
async function writeByForm(
  deps: UploadDeps & Pick<Deps, 'unheldFiles'>,
  target: RecordTarget,
  request: RecordForm,
  write: (read: ReadBody) => Promise<StoredRecord>,
): Promise<StoredRecord> {
  const uploaded = new Set<string>();
  let unheld: ReadonlySet<string> = uploaded;
  try {
    const input = await readForm(deps, target, request, uploaded);
    request.caller.requireStillAdmitted?.();
    const record = await write({ input, uploaded });
    unheld = uploaded.difference(new Set(Object.values(record.fields).flat()));
    return record;
  } finally {
    await deps.unheldFiles.removeIds(target.app, [...unheld]);
  }
}

/** Reads a form. The ids of its files are in `uploaded` as soon as they are stored. */
async function readForm(
  deps: UploadDeps,
  target: RecordTarget,
  { form, caller, now }: RecordForm,
  uploaded: Set<string>,
): Promise<RecordInput> {
  requireUncoded(form.header('content-encoding'));
  const { app, collection } = target;
  const values = new FormValues(collection);
  const readText = textReader(form);
  for await (const part of readParts(form.bytes, readBoundary(form.header('content-type')))) {
    if (part.filename === undefined) {
      values.addText(part.name, await readText(part));
      continue;
    }
    const field = values.fileField(part.name);
    requireKeyScope(caller.principal, 'files:write', { workspace: app.workspace.id, app: app.id });
    const bytes = await begun(part);
    // Browsers send this for an input in which no file was chosen.
    if (bytes === undefined) continue;
    if (uploaded.size === maxFiles) fail('payload_too_large', `a form may have at most ${maxFiles} files`);
    const mime = mediaTypeOf(part);
    refuseUnfit(field, part.name, { size: 0, type: mime });
    const { id } = await upload(deps, app, {
      filename: safeFilename(part.filename),
      mime,
      uploadedBy: caller.principal === null ? null : uploader(caller.principal),
      announced: undefined,
      bytes: limited(field, part.name, bytes),
      ...caller.requireStillAdmitted === undefined ? {} : { requireSender: caller.requireStillAdmitted },
      now,
    });
    uploaded.add(id);
    values.addFile(part.name, id);
  }
  return values.input();
}

function mediaTypeOf({ name, type }: FormPart): string {
  try {
    return parseMediaType(type);
  } catch (error) {
    throw error instanceof ApiError ? refusePart(name, 'the Content-Type must be a media type') : error;
  }
}

/** The bytes of a file; undefined when there are none, and it has no name either. */
async function begun({ filename, bytes }: FormPart): Promise<AsyncIterable<Buffer> | undefined> {
  if (filename !== '') return bytes;
  const iterator = bytes[Symbol.asyncIterator]();
  const first = await iterator.next();
  return first.done === true ? undefined : continued(first.value, { [Symbol.asyncIterator]: () => iterator });
}

async function* continued(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

/** Throws `400 validation` for a file that a field does not take. */
function refuseUnfit(field: Field, name: string, file: { size: number; type: string }): void {
  const reason = fileFault(field, file);
  if (reason !== undefined) refusePart(name, reason);
}

/** Ends an upload as soon as it is longer than its field allows. */
async function* limited(
  { max_size }: Field,
  name: string,
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (max_size !== undefined && size > max_size) {
      refusePart(name, `the file has more than the ${max_size} bytes that are allowed`);
    }
    yield chunk;
  }
}

/** Makes the reader of the texts of a form, which together may be as long as a body. */
function textReader({ maxValueBytes, reserve }: FormStream): (part: FormPart) => Promise<Buffer> {
  let total = 0;
  return async ({ bytes }) => {
    const chunks: Buffer[] = [];
    for await (const chunk of bytes) {
      total += chunk.length;
      if (total > maxValueBytes) {
        fail('payload_too_large', `the values of the form exceed ${maxValueBytes} bytes`);
      }
      reserve(chunk.length);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  };
}
