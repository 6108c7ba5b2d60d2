// The master changes an admin; new rights hold for tokens that are already out, a new password ends them.
import { type AdminChanges, type AdminRow, lockAdmin, updateAdmin } from '../../storage/control/admins.ts';
import { deleteKeysBeyond } from '../../storage/control/api-keys.ts';
import { notifyChange } from '../../storage/control/changes.ts';
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import { insertRevocations, type RevocationRow } from '../../storage/control/revocations.ts';
import { normalizeName } from '../auth/login/attempt.ts';
import { revokeKeys } from '../auth/keys/remove.ts';
import { checkNewPassword } from '../auth/passwords/policy.ts';
import { actorName, type Caller } from '../audit/actor.ts';
import { auditSystem } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { failValidation } from '../errors.ts';
import { failNoAdmin, requireAdmin } from './find.ts';
import { checkApps, refuseDuplicateAdmin } from './input.ts';
import { type Admin, showAdmin } from '../auth/account/admin-response.ts';

type UpdateDeps = Pick<
  Deps,
  'databases' | 'definitions' | 'passwords' | 'policies' | 'revocations' | 'newId' | 'now'
>;

/** The body of the request; a member that is left out stays as it is. */
export interface AdminPatch {
  email?: string | undefined;
  name?: string | undefined;
  password?: string | undefined;
  /** Empty: an admin of the whole workspace. */
  app_ids?: readonly string[] | undefined;
  role?: AdminRow['role'] | undefined;
}

/** Returns the changed admin. Throws `400 validation`, `404 not_found`, `409 conflict` for an email that is taken. */
export async function changeAdmin(
  deps: UpdateDeps,
  { workspace, id }: { workspace: WorkspaceDefinition; id: string },
  { patch, ...caller }: { patch: AdminPatch } & Caller,
): Promise<Admin> {
  await requireAdmin(deps, workspace, id);
  const prepared = await prepareChanges(deps, workspace, patch);
  const tidings = { kind: 'workspace', workspace: workspace.id } as const;
  const changed = await deps.databases.control.transaction(async (sql) => {
    const before = await lockAdmin(sql, workspace.id, id) ?? failNoAdmin(id);
    const changes = { ...prepared, ...chooseScope(before, { ...prepared, role: patch.role }) };
    const revoked = makeRevocations(deps, before, changes);
    const instant = revoked.find(({ kind }) => kind === 'subject')?.not_before;
    const admin = await updateAdmin(sql, before, {
      changes: { ...changes, credentials_changed_at: instant },
      now: caller.now,
    });
    await insertRevocations(sql, revoked);
    revoked.push(...await revokeKeys(sql, deps, await deleteKeysBeyond(sql, admin.id, admin)));
    await audit(sql, deps, { before, admin, patch, caller });
    // Open streams have looked the address up for their filters: then they look again.
    const isMoved = admin.email !== before.email;
    if (isMoved) await notifyChange(sql, tidings);
    return { admin, revoked, isMoved };
  }).catch(refuseDuplicateAdmin);
  deps.revocations.apply(changed.revoked);
  if (changed.isMoved) deps.definitions.invalidateLocally(tidings);
  return showAdmin(changed.admin);
}

async function prepareChanges(
  deps: UpdateDeps,
  workspace: WorkspaceDefinition,
  { email, name, password, app_ids }: AdminPatch,
): Promise<AdminChanges> {
  const at = { workspace: workspace.id };
  if (password !== undefined) await checkNewPassword(deps.policies, at, { field: 'password', password });
  const apps = app_ids === undefined ? undefined : await checkApps(deps, workspace, app_ids);
  const hash = (text: string) => deps.passwords.hash(`admins of ${workspace.id}`, text);
  return {
    email: email === undefined ? undefined : normalizeName(email),
    name,
    password_hash: password === undefined ? undefined : await hash(password),
    app_ids: apps,
  };
}

/**
 * The new apps and role of an admin; empty when neither changes. An app admin whose last app was deleted does not become
 * a workspace admin because its empty list is sent back. Throws `400 validation` for a workspace admin of some apps.
 */
function chooseScope(
  before: AdminRow,
  { app_ids, role: wanted }: Pick<AdminChanges, 'app_ids' | 'role'>,
): Pick<AdminChanges, 'app_ids' | 'role'> {
  if (app_ids === undefined && wanted === undefined) return {};
  const apps = app_ids ?? before.app_ids;
  const isUnchanged = apps.length === 0 && before.app_ids.length === 0;
  const role = wanted ?? (isUnchanged ? before.role : apps.length === 0 ? 'workspace_admin' : 'app_admin');
  if (role === 'workspace_admin' && apps.length > 0) {
    failValidation([{ field: 'role', reason: 'needs an empty app_ids: a workspace admin has all apps' }]);
  }
  return { app_ids: apps, role };
}

function makeRevocations(
  { revocations }: UpdateDeps,
  { id }: AdminRow,
  { password_hash, role, app_ids }: AdminChanges,
): RevocationRow[] {
  const rows: RevocationRow[] = [];
  if (password_hash !== undefined) rows.push(revocations.row('subject', id));
  if (role !== undefined && app_ids !== undefined) {
    const scope = role === 'app_admin' ? { role, apps: [...app_ids] } : { role };
    rows.push(revocations.row('scope', id, scope));
  }
  return rows;
}

async function audit(
  sql: Sql,
  deps: UpdateDeps,
  { before, admin, patch, caller }: { before: AdminRow; admin: AdminRow; patch: AdminPatch; caller: Caller },
): Promise<void> {
  const { id, workspace, email, name, role, app_ids } = admin;
  const from = { email: before.email, name: before.name, role: before.role, app_ids: before.app_ids };
  const changed = Object.keys(patch).sort();
  await auditSystem(sql, deps, {
    actor: await actorName(sql, caller.principal),
    action: 'admin_update',
    target: email,
    details: { id, workspace, changed, email, name, role, app_ids, from },
    workspace,
    origin: caller.origin,
  });
}
