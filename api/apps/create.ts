// Creating an app: role, schema, tables, row and audit entry in one transaction of the workspace's database.
import { removeAppFromAdmins } from '../../storage/control/admins.ts';
import { type AppRow, countAppsLocked, insertApp, takeSpareApp } from '../../storage/workspace/apps.ts';
import { notifyChange } from '../../storage/control/changes.ts';
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { StorageError } from '../../storage/errors.ts';
import { opaqueName } from '../../storage/sql/ids.ts';
import { deleteAppPolicies } from '../../storage/control/policies.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import { currentVersions } from '../../storage/provision/cluster.ts';
import { createAppSchema } from '../../storage/provision/app.ts';
import { renewRevocation, type RevocationRow } from '../../storage/control/revocations.ts';
import { revokeAppSessions } from '../../storage/sessions.ts';
import type { Config } from '../../supervisor/protocol.ts';
import { type Caller, readActorName } from '../audit/actor.ts';
import { auditWorkspace } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { failTaken } from '../errors.ts';
import { loadEarlyFiles } from '../hooks/files/reload.ts';
import { logFailure } from '../logging/events.ts';
import { lockWorkspace } from '../target.ts';
import { quotaExceeded, quotaLimit } from '../usage/quota.ts';

type CreateDeps =
  & Pick<
    Deps,
    | 'databases'
    | 'observe'
    | 'policies'
    | 'policyCache'
    | 'provisioning'
    | 'revocations'
    | 'upkeep'
    | 'newId'
    | 'now'
  >
  & { config: Pick<Config, 'hooks'> };

/** The body of the request. */
export interface NewApp {
  /** A new v7 UUID when left out. */
  id?: string | undefined;
  name: string;
}

/**
 * Returns the new app. Throws `409 conflict` for an id that is taken in the workspace, which stays as it is, and
 * `403 quota_exceeded` above policy `quota.apps`.
 */
export async function createApp(
  deps: CreateDeps,
  workspace: WorkspaceDefinition,
  { id = deps.newId(), name, caller }: NewApp & { caller: Caller },
): Promise<AppRow> {
  const { databases } = deps;
  const { database } = workspace;
  const actor = await readActorName(deps, caller.principal);
  const maxApps = await quotaLimit(deps.policies, 'quota.apps', { workspace: workspace.id });
  const { app, left } = await databases.provisioner(database).transaction(async (sql) => {
    const app = await insertRowAndSchema(sql, deps, { id, name, database, maxApps, now: caller.now });
    const left = await removeLeftovers(deps, workspace, id);
    // Those that came too late to be ended with the earlier app.
    if (left.revocation !== undefined) await revokeAppSessions(sql, id, caller.now);
    await auditWorkspace(sql, deps, {
      actor,
      action: 'app_create',
      target: id,
      details: { name },
      origin: caller.origin,
    });
    return { app, left };
  }).catch((error: unknown) => isTaken(error) ? refuseTaken(id) : Promise.reject(error));
  if (left.revocation !== undefined) deps.revocations.apply([left.revocation]);
  if (left.policies) deps.policyCache.onChange({ kind: 'policies', workspace: workspace.id });
  databases.warmApp(database, app.schema);
  deps.upkeep.refillApp(database);
  // The app is made by now, and its first use loads them as well.
  void loadEarlyFiles(deps, { id, workspace })
    .catch(logFailure(deps, 'load hooks from before their app'));
  return app;
}

/** The remains of an earlier app of the same id. */
interface Leftovers {
  policies: boolean;
  /** Of its tokens, made anew. */
  revocation: RevocationRow | undefined;
}

/**
 * Takes away what was set for an earlier app of this id while that one was being deleted: policies, rights of admins, and
 * tokens. It is done before the app can be seen, so nothing of its own can go with it. Returns what there was.
 * Throws `404 workspace_not_found`.
 */
async function removeLeftovers(
  { databases, revocations }: Pick<CreateDeps, 'databases' | 'revocations'>,
  held: WorkspaceDefinition,
  id: string,
): Promise<Leftovers> {
  const { id: workspace } = held;
  return await databases.control.transaction(async (sql) => {
    await lockWorkspace(sql, held);
    await removeAppFromAdmins(sql, workspace, id);
    const policies = await deleteAppPolicies(sql, workspace, id);
    if (policies) await notifyChange(sql, { kind: 'policies', workspace });
    return { policies, revocation: await renewRevocation(sql, revocations.row('app', `${workspace}/${id}`)) };
  });
}

/** Gives the app the ready schema of the workspace, or makes one. */
async function insertRowAndSchema(
  sql: Sql,
  { provisioning }: CreateDeps,
  { id, name, database, maxApps, now }: {
    id: string;
    name: string;
    database: string;
    maxApps: number | undefined;
    now: Date;
  },
): Promise<AppRow> {
  const { app: version } = currentVersions(provisioning.migrations);
  const ready = await takeSpareApp(sql, version);
  const schema = ready ?? opaqueName('a_');
  // Before the schema: a repeated request shall cost no role.
  const row = await insertApp(sql, { id, name, schema, version, now });
  if (maxApps !== undefined && await countAppsLocked(sql) > maxApps) {
    throw quotaExceeded('quota.apps', maxApps);
  }
  if (ready === undefined) await createAppSchema(sql, provisioning, { database, schema });
  return row;
}

function isTaken(error: unknown): boolean {
  return error instanceof StorageError && error.constraint === 'apps_id';
}

function refuseTaken(id: string): never {
  failTaken('id', `app "${id}" already exists`);
}
