// Listing workspaces: the master sees all, another admin its own.
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import type { Page, PageRequest } from '../../storage/sql/page.ts';
import { selectWorkspaces as listRows } from '../../storage/control/workspaces.ts';
import type { Deps } from '../deps.ts';
import type { Principal } from '../scope.ts';

/** The workspaces that the admin may see, in the order of their ids. */
export async function listWorkspaces(
  { databases }: Pick<Deps, 'databases'>,
  { workspace }: Principal,
  page: PageRequest,
): Promise<Page<WorkspaceDefinition>> {
  return await databases.control.run((sql) => listRows(sql, page, workspace));
}
