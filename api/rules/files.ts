// Who may read files: admins, uploaders and, by policy `files.read`, callers who may get a record that holds the file.
import { type AppDefinition, filesId } from '../../storage/definition.ts';
import { type FileHolder, isReadable } from '../../storage/app/files.ts';
import { referrersTo } from '../../storage/app/records/referrers.ts';
import type { Connection } from '../../storage/connections/pool.ts';
import { isUuid } from '../../storage/sql/ids.ts';
import type { Policies } from '../policies/effective.ts';
import type { Access } from './access.ts';
import { comparisonsToRead } from './compile.ts';
import { relatedGuard } from './related.ts';

/** The parts that are needed to find out. */
export interface FileReading {
  app: AppDefinition;
  connection: Connection;
  policies: Policies;
}

/** The comparisons of `get` rules in one statement, roughly: an app may have hundreds of fields that hold files. */
const maxComparisons = 64;

/** The ids among these whose files the caller may read. An id of no file is among them only for callers who may read all. */
export async function readableFiles(
  { app, connection, policies }: FileReading,
  access: Access,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { unbounded, uploaded, request: { auth } } = access;
  if (unbounded || uploaded !== undefined && ids.every((id) => uploaded.has(id))) return new Set(ids);
  const readers = await fileReaders({ app, policies });
  if (auth !== null && readers.includes('signed_in')) return new Set(ids);
  const uploader = auth?.role === 'user' && isUuid(auth.id) ? auth.id : undefined;
  const holders = readers.includes('records') ? readableHolders(app, access) : [];
  const readable = new Set(ids.filter((id) => uploaded?.has(id)));
  if (uploader === undefined && holders.length === 0) return readable;
  const parts = inParts(app, holders);
  for (const id of new Set(ids)) {
    for (const holders of parts) {
      if (readable.has(id)) break;
      const found = await connection.run((sql) => isReadable(sql, app.schema, id, { uploader, holders }));
      if (found) readable.add(id);
    }
  }
  return readable;
}

/** Who may read files besides admins and uploaders, by policy `files.read`. */
export async function fileReaders(
  { app, policies }: Pick<FileReading, 'app' | 'policies'>,
): Promise<readonly string[]> {
  return await policies.set('files.read', { workspace: app.workspace.id, app: app.id });
}

/** The fields that hold files, but for those of collections of which the caller may get no record at all. */
function readableHolders(app: AppDefinition, access: Access): FileHolder[] {
  const guard = relatedGuard(access, app);
  if (guard === undefined) return [];
  return referrersTo(app, filesId).flatMap(({ collection, field, many }) => {
    const residue = guard(collection.id);
    const isClosed = residue.kind === 'constant' && !residue.passes;
    return isClosed ? [] : [{ collection, field, isMany: many !== undefined, residue }];
  });
}

/** The holders in parts of one statement each; one empty part when there are none. */
function inParts(app: AppDefinition, holders: readonly FileHolder[]): FileHolder[][] {
  const parts: FileHolder[][] = [[]];
  let comparisons = 0;
  for (const holder of holders) {
    if (comparisons >= maxComparisons) {
      parts.push([]);
      comparisons = 0;
    }
    parts.at(-1)?.push(holder);
    comparisons += 1 + comparisonsToRead(app, holder.collection.id);
  }
  return parts;
}
