// The origins of a workspace: their pages may use its cookies.
import { notifyChange } from '../../storage/control/changes.ts';
import {
  findWorkspaceOrigins,
  lockWorkspaceOrigins,
  updateWorkspaceOrigins,
} from '../../storage/control/workspace-origins.ts';
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { actorName, type Caller } from '../audit/actor.ts';
import { auditSystem } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { fail, failValidation } from '../errors.ts';
import { canonicalOrigin } from '../http/hosts/origins.ts';
import { levelOf } from '../scope.ts';
import { failNoWorkspace } from '../target.ts';

/** Returns the origins of a workspace. Throws `404 workspace_not_found`. */
export async function showOrigins(
  { databases }: Pick<Deps, 'databases'>,
  workspace: WorkspaceDefinition,
): Promise<string[]> {
  return await databases.control.run((sql) => findWorkspaceOrigins(sql, workspace)) ??
    failNoWorkspace(workspace.id);
}

/**
 * Sets the origins of a workspace. Admins of the workspace may add those that match policy `cors.origins`. Throws `400
 * validation`, `400 policy_violation`, `404 workspace_not_found`.
 */
export async function setOrigins(
  deps: Pick<Deps, 'databases' | 'policies' | 'allowedOrigins' | 'newId' | 'now'>,
  workspace: WorkspaceDefinition,
  { origins, caller }: { origins: readonly string[]; caller: Caller },
): Promise<string[]> {
  const { id } = workspace;
  const next = checkedOrigins(origins);
  const isMaster = levelOf(caller.principal) === 'master_admin';
  const patterns = await deps.policies.set('cors.origins', { workspace: id });
  await deps.databases.control.transaction(async (sql) => {
    const before = await lockWorkspaceOrigins(sql, workspace) ?? failNoWorkspace(id);
    const refused = next.find((origin) => !before.includes(origin) && !matchesOne(origin, patterns));
    if (refused !== undefined && !isMaster) {
      fail('policy_violation', `cors.origins: ${refused} is not among what the policy allows`);
    }
    await updateWorkspaceOrigins(sql, id, { origins: next, now: caller.now });
    await auditSystem(sql, deps, {
      actor: await actorName(sql, caller.principal),
      action: 'origins_set',
      target: id,
      details: { origins: next, from: before },
      workspace: id,
      origin: caller.origin,
    });
    await notifyChange(sql, { kind: 'workspace', workspace: id });
  });
  await deps.allowedOrigins.reload();
  return next;
}

function checkedOrigins(origins: readonly string[]): string[] {
  const canonical = origins.map(canonicalOrigin);
  const reason =
    'must be an exact origin like https://example.com or capacitor://localhost, without * or a path';
  const errors = canonical.flatMap((origin, index) =>
    origin === undefined ? [{ field: `origins.${index}`, reason }] : []
  );
  if (errors.length > 0) failValidation(errors);
  return [...new Set(canonical.filter((origin) => origin !== undefined))];
}

/** `*.` at the start of a host stands for one or more labels. */
function matchesOne(origin: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const [start = '', end] = pattern.split('*');
    if (end === undefined) return canonicalOrigin(pattern) === origin;
    const labels = origin.slice(start.length, -end.length);
    return origin === start + labels + end && /^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(labels);
  });
}
