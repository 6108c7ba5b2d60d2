// The admins of a workspace.
import { selectAdmins as listRows } from '../../storage/control/admins.ts';
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import type { Page, PageRequest } from '../../storage/sql/page.ts';
import type { Deps } from '../deps.ts';
import { type Admin, showAdmin } from '../auth/account/admin-response.ts';

/** In the order of their creation. */
export async function listAdmins(
  { databases }: Pick<Deps, 'databases'>,
  { id }: WorkspaceDefinition,
  request: PageRequest,
): Promise<Page<Admin>> {
  const page = await databases.control.run((sql) => listRows(sql, id, request));
  return { ...page, items: page.items.map(showAdmin) };
}
