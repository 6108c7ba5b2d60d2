// Cloning a workspace: a copy of it that is kept as it is, for resets, and a copy of that copy which is the new workspace.
import { notifyChange } from '../../../storage/control/changes.ts';
import type { Sql } from '../../../storage/connections/pool.ts';
import { renewRevocation, type RevocationRow } from '../../../storage/control/revocations.ts';
import { databaseBytes } from '../../../storage/control/usage.ts';
import { applyTemplate, insertTemplate, setTemplate } from '../../../storage/control/clones/templates.ts';
import { insertWorkspace, isSameWorkspace, workspaceExists } from '../../../storage/control/workspaces.ts';
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { handOver } from '../../../storage/provision/copy.ts';
import { actorName, type Caller } from '../../audit/actor.ts';
import { auditSystem } from '../../audit/write.ts';
import { failValidation } from '../../errors.ts';
import { placeHookFiles } from '../../hooks/files/copies.ts';
import { isTakenWorkspace, type NewWorkspace, refuseTakenWorkspace } from '../create.ts';
import { expiryAfter } from '../expiry.ts';
import { type CloneDeps, copyingWorkspaces } from './copies.ts';

/** Connections to the source wait while its database is copied, so that a large one would be noticed. */
const maxBytes = 1_024 * 1_048_576;

/**
 * Returns the new workspace, with apps, records, files, hooks, users and policies of the source. Throws `409 conflict` for an
 * id that is taken, `400 validation` for a source that does not exist or is too large, and `503 unavailable` for one that is
 * too busy.
 */
export async function cloneWorkspace(
  deps: CloneDeps,
  { id = deps.newId(), name, ttl_sec, from }: NewWorkspace & { from: string },
  caller: Caller,
): Promise<WorkspaceDefinition> {
  const { config, databases, upkeep } = deps;
  if (await databases.control.run((sql) => workspaceExists(sql, id))) refuseTakenWorkspace(id);
  const source = await deps.definitions.workspace(from) ?? failNoSource(from);
  await requireSize(deps, source);
  const expires_at = expiryAfter(ttl_sec, caller.now);
  const { workspace, renewed } = await copyingWorkspaces(deps, async (copy) => {
    const template = await copy(source);
    const database = await copy({ database: template });
    return await databases.control.transaction((sql) =>
      assign(sql, deps, {
        source,
        template,
        clone: { id, name, database, expires_at, now: caller.now },
        caller,
      })
    ).catch((error: unknown) => isTakenWorkspace(error) ? refuseTakenWorkspace(id) : Promise.reject(error));
  });
  if (renewed !== undefined) deps.revocations.apply([renewed]);
  deps.policyCache.onChange({ kind: 'policies', workspace: id });
  await placeHookFiles(config, { database: workspace.database, workspace: id });
  await deps.databaseSettings.apply(workspace);
  upkeep.refillApp(workspace.database);
  return workspace;
}

interface Assignment {
  source: WorkspaceDefinition;
  template: string;
  clone: { id: string; name: string; database: string; expires_at: Date | null; now: Date };
  caller: Caller;
}

/** From the end of this transaction on, all of it is there; without it, nothing. */
async function assign(
  sql: Sql,
  deps: CloneDeps,
  { source, template, clone, caller }: Assignment,
): Promise<{ workspace: WorkspaceDefinition; renewed: RevocationRow | undefined }> {
  const { id, name, database, expires_at } = clone;
  if (!await isSameWorkspace(sql, source)) failNoSource(source.id);
  await handOver(sql, [{ database: template, state: 'template' }, { database, state: 'assigned' }]);
  await insertTemplate(sql, { database: template, source: source.id });
  const workspace = await insertWorkspace(sql, clone);
  await setTemplate(sql, { id, template, source: source.id });
  await applyTemplate(sql, { id, template, now: caller.now });
  const renewed = await renewRevocation(sql, deps.revocations.row('workspace', id));
  await auditSystem(sql, deps, {
    actor: await actorName(sql, caller.principal),
    action: 'workspace_create',
    target: id,
    details: { name, from: source.id, ...expires_at === null ? {} : { expires_at } },
    workspace: id,
    origin: caller.origin,
  });
  await notifyChange(sql, { kind: 'workspace', workspace: id });
  await notifyChange(sql, { kind: 'policies', workspace: id });
  return { workspace: { ...workspace, source: source.id }, renewed };
}

async function requireSize({ databases }: CloneDeps, { id, database }: WorkspaceDefinition): Promise<void> {
  const bytes = await databases.provisioner(database).run(databaseBytes);
  if (bytes <= maxBytes) return;
  const [megabytes, most] = [bytes, maxBytes].map((size) => Math.ceil(size / 1_048_576));
  const reason =
    `workspace "${id}" has ${megabytes} MB in its database, and of more than ${most} MB none is cloned`;
  failValidation([{ field: 'from', reason }]);
}

function failNoSource(id: string): never {
  failValidation([{ field: 'from', reason: `workspace "${id}" does not exist`, code: 'not_found' }]);
}
