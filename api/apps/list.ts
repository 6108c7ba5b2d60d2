// Listing apps: an app admin sees its own only.
import { type AppRow, selectApps as listRows } from '../../storage/workspace/apps.ts';
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import type { Page, PageRequest } from '../../storage/sql/page.ts';
import type { Deps } from '../deps.ts';
import type { Principal } from '../scope.ts';

/** The apps of a workspace that the admin may see, in the order of their ids. */
export async function listApps(
  { databases }: Pick<Deps, 'databases'>,
  { database }: WorkspaceDefinition,
  { principal, page }: { principal: Principal; page: PageRequest },
): Promise<Page<AppRow>> {
  return await databases.workspace(database).run((sql) => listRows(sql, page, principal.apps));
}
