// Who may do what with a file: the one check that every way to a file goes through.
import type { AppDefinition } from '../../storage/definition.ts';
import { type FileRow, findFile } from '../../storage/app/files.ts';
import { isUuid } from '../../storage/sql/ids.ts';
import type { BlobKey } from '../../storage/blobs/blob-store.ts';
import type { Deps } from '../deps.ts';
import { failNoPrincipal } from '../auth/account/me.ts';
import { fail } from '../errors.ts';
import { bypassesRules, type Principal } from '../scope.ts';

/** What somebody wants to do with a file. Whoever is signed in to the app may read. */
export type Purpose = 'read' | 'remove';

/** Whose files a caller sees in the list: everybody's (undefined), or those of this end-user. */
export function listedUploader(app: AppDefinition, principal: Principal): string | undefined {
  return isAdminOf(app, principal) ? undefined : principal.id;
}

/** Whose a new file is: an end-user's, or nobody's (null). Throws `401` for a user of an earlier release, who is none here. */
export function uploader({ role, id }: Principal): string | null {
  if (role !== 'user') return null;
  return isUuid(id) ? id : failNoPrincipal();
}

/**
 * The file, when the caller may. Throws `404 not_found` for one that is not there (of another app, say), `403
 * forbidden` for one that is another end-user's.
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

/** The file, for whoever was found to have the right by other means. Throws `404 not_found`. */
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

/** Where the bytes of an app's file are. */
export function blobKey({ workspace: { database }, schema }: AppDefinition, id: string): BlobKey {
  return { database, schema, id };
}

function isAdminOf(app: AppDefinition, principal: Principal): boolean {
  return bypassesRules(principal, { workspace: app.workspace.id, app: app.id });
}
