// Creating a workspace: a ready-made database becomes its own in one control transaction.
import { peekSpareApp } from '../../storage/workspace/apps.ts';
import type { Databases } from '../../storage/connections/databases.ts';
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { StorageError } from '../../storage/errors.ts';
import { renewRevocation, type RevocationRow } from '../../storage/control/revocations.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import { currentVersions } from '../../storage/provision/cluster.ts';
import { makeDatabase } from '../../storage/provision/database.ts';
import { takeSpare } from '../../storage/control/tenant-databases.ts';
import { insertWorkspace, workspaceExists } from '../../storage/control/workspaces.ts';
import { actorName, type Caller } from '../audit/actor.ts';
import { auditSystem } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { fail, failTaken } from '../errors.ts';
import { expiryAfter } from './expiry.ts';

type CreateDeps = Pick<Deps, 'databases' | 'provisioning' | 'revocations' | 'upkeep' | 'newId' | 'now'>;

/** The body of the request. */
export interface NewWorkspace {
  /** A new v7 UUID when left out. */
  id?: string | undefined;
  name: string;
  /** Seconds after which it is deleted; without it, it stays. */
  ttl_sec?: number | undefined;
}

const attempts = 5;

/** Returns the new workspace. Throws `409 conflict` for an id that is taken, which stays as it is. */
export async function createWorkspace(
  deps: CreateDeps,
  { id = deps.newId(), name, ttl_sec }: NewWorkspace,
  caller: Caller,
): Promise<WorkspaceDefinition> {
  const { databases, provisioning, upkeep } = deps;
  // Without this look, a repeated request could cost a database.
  if (await databases.control.run((sql) => workspaceExists(sql, id))) refuseTakenWorkspace(id);
  const expires_at = expiryAfter(ttl_sec, caller.now);
  for (let attempt = 0; attempt < attempts; attempt++) {
    const assigned = await databases.control.transaction((sql) =>
      assign(sql, deps, { id, name, expires_at, caller })
    )
      .catch((error: unknown) => isTakenWorkspace(error) ? refuseTakenWorkspace(id) : Promise.reject(error));
    if (assigned !== undefined) {
      const { workspace, renewed } = assigned;
      if (renewed !== undefined) deps.revocations.apply([renewed]);
      upkeep.poke('soon');
      warm(databases, workspace.database);
      return workspace;
    }
    // None is ready; what is made now may be taken by another request, hence the attempts.
    await makeDatabase(provisioning).catch((error: unknown) => {
      // The reaper removes a half-made workspace.
      upkeep.poke('soon');
      throw error;
    });
  }
  fail('unavailable', 'no database could be made ready in time', [['Retry-After', '1']]);
}

/** Opens the connections that the first app and its first collection, which are likely to follow, will need. */
function warm(databases: Databases, database: string): void {
  void databases.workspace(database).warm();
  const spare = databases.provisioner(database).run(peekSpareApp);
  // A failure is nobody's: whoever needs the connection meets it again.
  spare.then(
    (schema) => schema === undefined ? undefined : databases.warmApp(database, schema),
    () => 'cold',
  );
}

/** Takes a ready database for the workspace; undefined when there is none. */
async function assign(
  sql: Sql,
  deps: CreateDeps,
  { id, name, expires_at, caller }: { id: string; name: string; expires_at: Date | null; caller: Caller },
): Promise<{ workspace: WorkspaceDefinition; renewed: RevocationRow | undefined } | undefined> {
  const database = await takeSpare(sql, currentVersions(deps.provisioning.migrations));
  if (database === undefined) return undefined;
  const workspace = await insertWorkspace(sql, { id, name, database, expires_at, now: caller.now });
  // Tokens were given out until the very end of an earlier workspace of this id: none is good for this one.
  const renewed = await renewRevocation(sql, deps.revocations.row('workspace', id));
  const actor = await actorName(sql, caller.principal);
  await auditSystem(sql, deps, {
    actor,
    action: 'workspace_create',
    target: id,
    details: { name, ...expires_at === null ? {} : { expires_at } },
    workspace: id,
    origin: caller.origin,
  });
  return { workspace, renewed };
}

/** True for an id that another workspace has. */
export function isTakenWorkspace(error: unknown): boolean {
  return error instanceof StorageError && error.constraint === 'workspaces_id';
}

/** Throws `409 conflict`. */
export function refuseTakenWorkspace(id: string): never {
  failTaken('id', `workspace "${id}" already exists`);
}
