// An admin, as responses show it.
import type { AdminRow } from '../../../storage/control/admins.ts';
import type { MasterAdminRow } from '../../../storage/control/master-admins.ts';
import { array, object, oneOf, optional, string, timestamp, type ValueOf } from '../../contract/schema.ts';

/** The schema of a master admin, a workspace admin or an app admin. */
export const adminResponse = object({
  id: string({ format: 'uuid' }),
  username: optional(string()),
  email: optional(string({ format: 'idn-email' })),
  name: string(),
  role: oneOf(['master_admin', 'workspace_admin', 'app_admin']),
  app_ids: array(string()),
  created_at: timestamp(),
  updated_at: timestamp(),
});

/** The type of an admin. */
export type Admin = ValueOf<typeof adminResponse>;

/** Shows a workspace or app admin, without the hash. */
export function showAdmin({ id, email, name, role, app_ids, created_at, updated_at }: AdminRow): Admin {
  return { id, email, name, role, app_ids, created_at, updated_at };
}

/** Shows a master admin, without the hash. */
export function showMaster({ id, username, created_at, updated_at }: MasterAdminRow): Admin {
  return { id, username, name: username, role: 'master_admin', app_ids: [], created_at, updated_at };
}
