// Checks the members that the master may write of an admin.
import { selectApps } from '../../storage/workspace/apps.ts';
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { StorageError } from '../../storage/errors.ts';
import type { Deps } from '../deps.ts';
import { failTaken, failValidation } from '../errors.ts';
import { array, string } from '../contract/schema.ts';

/** A person's name; may be empty. */
export const adminName = string({ max: 200 });
/** Apps of an app admin; empty for a workspace admin. */
export const adminApps = array(string({ min: 1, max: 40 }), { max: 1_000 });

/** The list without repetitions. Throws `400 validation` naming the apps that do not exist. */
export async function checkApps(
  { databases }: Pick<Deps, 'databases'>,
  { database }: WorkspaceDefinition,
  appIds: readonly string[],
): Promise<string[]> {
  const wanted = [...new Set(appIds)];
  if (wanted.length === 0) return wanted;
  const request = { page: 1, per_page: wanted.length, count: false };
  const { items } = await databases.workspace(database).run((sql) => selectApps(sql, request, wanted));
  const missing = wanted.filter((id) => !items.some((app) => app.id === id));
  if (missing.length > 0) {
    failValidation(
      missing.map((id) => ({ field: 'app_ids', reason: `app "${id}" does not exist`, code: 'not_found' })),
    );
  }
  return wanted;
}

/** Turns the violation of a unique constraint into the response for it; anything else goes on as it is. */
export function refuseDuplicateAdmin(error: unknown): never {
  if (error instanceof StorageError && error.constraint?.startsWith('admins_workspace_email')) {
    failTaken('email', 'an admin with this email already exists');
  }
  if (error instanceof StorageError && error.constraint === 'admins_pkey') {
    failTaken('id', 'an admin with this id already exists');
  }
  throw error;
}
