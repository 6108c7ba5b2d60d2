// Finding an admin of a workspace.
import { type AdminRow, findAdmin } from '../../storage/control/admins.ts';
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';

/** Throws `404 not_found`. */
export async function requireAdmin(
  { databases }: Pick<Deps, 'databases'>,
  workspace: WorkspaceDefinition,
  id: string,
): Promise<AdminRow> {
  return await databases.control.run((sql) => findAdmin(sql, workspace.id, id)) ?? failNoAdmin(id);
}

/** Ends a request for an admin who does not exist. */
export function failNoAdmin(id: string): never {
  fail('not_found', `admin "${id.slice(0, 100)}" does not exist`);
}
