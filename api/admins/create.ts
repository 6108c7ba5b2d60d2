// The master makes a workspace admin or an app admin.
import { type AdminRow, insertAdmin } from '../../storage/control/admins.ts';
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { normalizeName } from '../auth/login/attempt.ts';
import { checkNewPassword } from '../auth/passwords/policy.ts';
import { actorName, type Caller } from '../audit/actor.ts';
import { auditSystem } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { lockWorkspace } from '../target.ts';
import { checkApps, refuseDuplicateAdmin } from './input.ts';
import { type Admin, showAdmin } from '../auth/account/admin-response.ts';

/** The body of the request. */
export interface NewAdmin {
  /** A new v7 UUID when left out. */
  id?: string | undefined;
  email: string;
  password: string;
  name?: string | undefined;
  /** Empty: an admin of the whole workspace. */
  app_ids: readonly string[];
}

/** Returns the new admin. Throws `400 validation`, `404 workspace_not_found`, `409 conflict` for an id or email that is taken. */
export async function createAdmin(
  deps: Pick<Deps, 'databases' | 'passwords' | 'policies' | 'revocations' | 'newId' | 'now'>,
  workspace: WorkspaceDefinition,
  { id = deps.newId(), email, password, name = '', app_ids, ...caller }: NewAdmin & Caller,
): Promise<Admin> {
  await checkNewPassword(deps.policies, { workspace: workspace.id }, { field: 'password', password });
  const apps = await checkApps(deps, workspace, app_ids);
  const row: AdminRow = {
    id: id.toLowerCase(),
    workspace: workspace.id,
    email: normalizeName(email),
    name,
    password_hash: await deps.passwords.hash(`admins of ${workspace.id}`, password),
    role: apps.length === 0 ? 'workspace_admin' : 'app_admin',
    app_ids: apps,
    credentials_changed_at: deps.revocations.instant(),
    created_at: caller.now,
    updated_at: caller.now,
  };
  try {
    await deps.databases.control.transaction(async (sql) => {
      await lockWorkspace(sql, workspace);
      await insertAdmin(sql, row);
      await auditSystem(sql, deps, {
        actor: await actorName(sql, caller.principal),
        action: 'admin_create',
        target: row.email,
        details: { id: row.id, workspace: workspace.id, role: row.role, app_ids: row.app_ids },
        workspace: workspace.id,
        origin: caller.origin,
      });
    });
  } catch (error) {
    refuseDuplicateAdmin(error);
  }
  return showAdmin(row);
}
