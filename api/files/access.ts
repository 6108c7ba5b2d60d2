// Access to files: the checks that every request for a file passes.
import type { AppDefinition } from '../../storage/definition.ts';
import { type FileRow, findFile } from '../../storage/app/files.ts';
import { isUuid } from '../../storage/sql/ids.ts';
import type { BlobKey } from '../../storage/blobs/blob-store.ts';
import type { Deps } from '../deps.ts';
import { failNoPrincipal } from '../auth/account/me.ts';
import { fail } from '../errors.ts';
import { bypassesRules, type Principal } from '../scope.ts';

/** The purpose of an access. Every signed-in user of the app may read. */
export type Purpose = 'read' | 'remove';

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
 * The file, if the caller has access. Throws `404 not_found` when the app has no such file, `403 forbidden` to remove the
 * file of another end-user.
 */
export async function requireFileAccess(
  { databases }: Pick<Deps, 'databases'>,
  app: AppDefinition,
  { id, principal, purpose }: { id: string; principal: Principal; purpose: Purpose },
): Promise<FileRow> {
  const file = await requireFile({ databases }, app, id);
  const mayRemove = isAdminOf(app, principal) || file.uploaded_by === principal.id;
  if (purpose === 'remove' && !mayRemove) {
    fail('forbidden', 'only an admin or who uploaded a file may delete it');
  }
  return file;
}

/** The file, for a caller whose access was checked otherwise. Throws `404 not_found`. */
export async function requireFile(
  { databases }: Pick<Deps, 'databases'>,
  { workspace: { database }, schema }: AppDefinition,
  id: string,
): Promise<FileRow> {
  const file = isUuid(id)
    ? await databases.app(database, schema).run((sql) => findFile(sql, schema, id))
    : undefined;
  return file ?? fail('not_found', `file "${id.slice(0, 100)}" does not exist`);
}

/** The blob key of an app's file. */
export function blobKey({ workspace: { database }, schema }: AppDefinition, id: string): BlobKey {
  return { database, schema, id };
}

function isAdminOf(app: AppDefinition, principal: Principal): boolean {
  return bypassesRules(principal, { workspace: app.workspace.id, app: app.id });
}
