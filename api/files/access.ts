// Access to files: the checks that every request for a file passes.
import type { AppDefinition } from '../../storage/definition.ts';
import { type FileRow, findFile } from '../../storage/app/files.ts';
import { isUuid } from '../../storage/sql/ids.ts';
import type { BlobKey } from '../../storage/blobs/blob-store.ts';
import type { Deps } from '../deps.ts';
import { failNoPrincipal } from '../auth/account/me.ts';
import { fail } from '../errors.ts';
import { onApp } from '../records/collection.ts';
import { type AccessRequest, relatedAccess } from '../rules/access.ts';
import { readableFiles } from '../rules/files.ts';
import { bypassesRules, type Principal } from '../scope.ts';

/** The uploader whose files a caller may list; undefined for an admin, who may list all. */
export function listedUploader(app: AppDefinition, principal: Principal): string | undefined {
  return isAdminOf(app, principal) ? undefined : principal.id;
}

/** The uploader of a new file: the end-user, or null for an admin. Throws `401` for an id of an earlier release. */
export function uploader({ role, id }: Principal): string | null {
  if (role !== 'user') return null;
  return isUuid(id) ? id : failNoPrincipal();
}

/**
 * The file, if the caller may read it. Throws `404 not_found` when the app has no such file and `403 forbidden` when it
 * has; to a caller without a token `401 unauthorized` in both cases.
 */
export async function requireReadable(
  deps: Pick<Deps, 'databases' | 'definitions' | 'policies'>,
  app: AppDefinition,
  { id, ...asking }: { id: string } & AccessRequest,
): Promise<FileRow> {
  const { principal } = asking;
  const found = await onApp(deps, app, async (app) => {
    const file = await find(deps, app, id);
    if (file === undefined || owns(app, principal, file)) return file;
    const access = await relatedAccess(deps, app, asking);
    const { workspace: { database }, schema } = app;
    const reading = { app, connection: deps.databases.app(database, schema), policies: deps.policies };
    const readable = await readableFiles(reading, access, [file.id]);
    return readable.has(file.id) ? file : 'unreadable';
  });
  if (found !== undefined && found !== 'unreadable') return found;
  if (principal === null) fail('unauthorized', 'this needs an access token: Authorization: Bearer <token>');
  if (found === undefined) failNoFile(id);
  fail('forbidden', 'only admins, its uploader and who may get a record that holds this file may read it');
}

/** The file, if the caller may delete it. Throws `404 not_found`, `403 forbidden` for the file of another end-user. */
export async function requireRemovable(
  deps: Pick<Deps, 'databases'>,
  app: AppDefinition,
  { id, principal }: { id: string; principal: Principal },
): Promise<FileRow> {
  const file = await requireFile(deps, app, id);
  if (owns(app, principal, file)) return file;
  fail('forbidden', 'only an admin or who uploaded a file may delete it');
}

/** The file, for a caller whose access was checked otherwise. Throws `404 not_found`. */
export async function requireFile(
  deps: Pick<Deps, 'databases'>,
  app: AppDefinition,
  id: string,
): Promise<FileRow> {
  return await find(deps, app, id) ?? failNoFile(id);
}

async function find(
  { databases }: Pick<Deps, 'databases'>,
  { workspace: { database }, schema }: AppDefinition,
  id: string,
): Promise<FileRow | undefined> {
  return isUuid(id)
    ? await databases.app(database, schema).run((sql) => findFile(sql, schema, id))
    : undefined;
}

function failNoFile(id: string): never {
  fail('not_found', `file "${id.slice(0, 100)}" does not exist`);
}

/** True for admins of the app, and for the uploader of the file. */
function owns(app: AppDefinition, principal: Principal | null, { uploaded_by }: FileRow): boolean {
  return principal !== null && (isAdminOf(app, principal) || uploaded_by === principal.id);
}

/** The blob key of an app's file. */
export function blobKey({ workspace: { database }, schema }: AppDefinition, id: string): BlobKey {
  return { database, schema, id };
}

function isAdminOf(app: AppDefinition, principal: Principal): boolean {
  return bypassesRules(principal, { workspace: app.workspace.id, app: app.id });
}
