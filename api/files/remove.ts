// Deleting a file: the row first, which ends it for everybody, then its bytes.
import type { AppDefinition } from '../../storage/definition.ts';
import { deleteFile } from '../../storage/files.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import type { Principal } from '../scope.ts';
import { fileFor } from './access.ts';
import { forgetBytes } from './upload.ts';

/** Throws `404 not_found`, `403 forbidden`, and `409 conflict` while a record points to it. */
export async function removeFile(
  deps: Pick<Deps, 'databases' | 'blobs' | 'observe'>,
  app: AppDefinition,
  { id, principal }: { id: string; principal: Principal },
): Promise<{ ok: true }> {
  const file = await fileFor(deps, app, { id, principal, purpose: 'remove' });
  const { workspace: { database }, schema } = app;
  const isGone = await deps.databases.app(database, schema).run((sql) => deleteFile(sql, schema, file.id));
  if (!isGone) fail('not_found', `file "${file.id}" does not exist`);
  await forgetBytes(deps, app, file.id);
  return { ok: true };
}
