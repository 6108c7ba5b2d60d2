// Sets and removes policies. Check, cascade and audit are one change.
import type { AppDefinition, WorkspaceDefinition } from '../../storage/definition.ts';
import { notifyChange } from '../../storage/control/changes.ts';
import {
  deletePolicy,
  listFieldPolicies,
  lockPolicies,
  policyBytes,
  type PolicyLevel,
  type PolicyRow,
  putPolicies,
} from '../../storage/control/policies.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import { actorName, type Caller } from '../audit/actor.ts';
import { withRemoteEntry, type WriteRemoteEntry } from '../audit/remote-entry.ts';
import { auditApp, type AuditEvent, auditSystem, auditWorkspace } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { fail, failValidation } from '../errors.ts';
import { lockWorkspace } from '../target.ts';
import { entriesAt } from './cache.ts';
import { boundAbove, cascade, type Cascaded, readStored, type StoredPolicy } from './cascade.ts';
import { findDefinition, levelName, serverSpec } from './chain.ts';
import { checkedSpec, isFieldName, maxFieldLength } from './checked-spec.ts';
import { type PolicyResponse, showLevel } from './show.ts';
import { type PolicySpec, violation } from './spec.ts';

/** The level that a policy is set at: the system, a workspace, or an app. */
export interface LevelTarget {
  workspace?: WorkspaceDefinition;
  app?: AppDefinition;
}

/** The policy that is changed, and the caller. */
export interface PolicyChange {
  field: string;
  caller: Caller;
}

type SetDeps = Pick<Deps, 'config' | 'databases' | 'policyCache' | 'newId' | 'now'>;

/** The size of all policies of a workspace and its apps, as JSON. */
const maxBytes = 4 * 1_048_576;

/**
 * Sets a policy, and clamps those below it. Throws `400 validation` for an invalid name or spec, `400 policy_violation` for
 * a spec outside of the bound above.
 */
export async function setPolicy(
  deps: SetDeps,
  target: LevelTarget,
  spec: PolicySpec,
  { field, caller }: PolicyChange,
): Promise<PolicyResponse & { cascaded: Cascaded[] }> {
  const checked = checkedSpec(field, spec);
  const level = toLevel(target);
  const { rows, cascaded } = await change(
    deps,
    target,
    { field, caller, action: 'policy_set' },
    async (sql, before) => {
      const bound = boundAbove(before, level, ownBound(deps, field));
      const reason = bound === undefined || level.workspace === null ? undefined : violation(checked, bound);
      if (reason !== undefined) fail('policy_violation', `${field}: ${reason}`);
      await putPolicies(sql, [{ ...level, field, spec: checked, updated_at: caller.now }]);
      await checkSize(sql, level, checked);
      return checked;
    },
  );
  // From the rows of the transaction: the policy, or its app, may have been removed since.
  return { ...showLevel(deps.config, { field, scope: levelName(level) }, entriesAt(rows, level)), cascaded };
}

/** All policies of a workspace are cached together. Only lists of words can be long. */
async function checkSize(sql: Sql, { workspace }: PolicyLevel, { kind }: PolicySpec): Promise<void> {
  if (workspace === null || kind !== 'enum_set' || await policyBytes(sql, workspace) <= maxBytes) return;
  const reason = `is too much: the policies of a workspace and its apps take up at most ${maxBytes} bytes`;
  failValidation([{ field: 'allowed', reason }]);
}

/** Removes a policy of a level, where the bounds of the levels above then apply. Throws `404 not_found`. */
export async function removePolicy(
  deps: SetDeps,
  target: LevelTarget,
  { field, caller }: PolicyChange,
): Promise<{ ok: true }> {
  const level = toLevel(target);
  const failNotSet = () =>
    fail('not_found', `policy "${field.slice(0, maxFieldLength)}" is not set at this level`);
  if (!isFieldName(field)) failNotSet();
  await change(deps, target, { field, caller, action: 'policy_delete' }, async (sql) => {
    if (!await deletePolicy(sql, { ...level, field })) failNotSet();
    return null;
  });
  return { ok: true };
}

/**
 * Changes one row and clamps the rows below it, in one transaction. Returns the rows as they were before the clamps. An
 * audit entry in a workspace's database is committed first: every change has its entry, and an entry may be of a change
 * that failed in its commit.
 */
async function change(
  deps: SetDeps,
  target: LevelTarget,
  { field, caller, action }: PolicyChange & { action: string },
  apply: (sql: Sql, rows: readonly StoredPolicy[]) => Promise<PolicySpec | null>,
): Promise<{ rows: PolicyRow[]; cascaded: Cascaded[] }> {
  const level = toLevel(target);
  const make = (audit: Audit) => async (sql: Sql) => {
    await lockPolicies(sql);
    const workspace = target.app?.workspace ?? target.workspace;
    if (workspace !== undefined) await lockWorkspace(sql, workspace);
    const before = readStored(await listFieldPolicies(sql, field));
    const to = await apply(sql, before);
    const rows = await listFieldPolicies(sql, field);
    const cascaded = cascade(readStored(rows), ownBound(deps, field));
    await putPolicies(
      sql,
      cascaded.map(({ workspace, app, to }) => ({ workspace, app, field, spec: to, updated_at: caller.now })),
    );
    const own = before.find(({ workspace, app }) => workspace === level.workspace && app === level.app);
    await audit(sql, {
      actor: await actorName(sql, caller.principal),
      action,
      target: field,
      details: { from: own?.spec ?? null, to, ...(cascaded.length > 0 ? { cascaded } : {}) },
      origin: caller.origin,
    });
    await notifyChange(sql, toChange(level));
    return { rows, cascaded };
  };
  const changed = await withAudit(deps, target, (audit) => deps.databases.control.transaction(make(audit)));
  deps.policyCache.onChange(toChange(level));
  return changed;
}

function ownBound({ config }: Pick<Deps, 'config'>, field: string): PolicySpec | undefined {
  const definition = findDefinition(field);
  return definition === undefined ? undefined : serverSpec(definition, config);
}

/** Writes the audit entry of a change, whose transaction is `control`. */
type Audit = (control: Sql, event: AuditEvent) => Promise<void>;

/** Runs a change with its audit entry. The change locks all policies, so it must not wait for a tenant's database. */
function withAudit<Result>(
  deps: SetDeps,
  { workspace, app }: LevelTarget,
  change: (audit: Audit) => Promise<Result>,
): Promise<Result> {
  const within = (write: WriteRemoteEntry) => change((_control, event) => write(event));
  if (app !== undefined) {
    const connection = deps.databases.app(app.workspace.database, app.schema);
    return withRemoteEntry(connection, (sql, event) => auditApp(sql, deps, event), within);
  }
  if (workspace !== undefined) {
    const connection = deps.databases.workspace(workspace.database);
    return withRemoteEntry(connection, (sql, event) => auditWorkspace(sql, deps, event), within);
  }
  return change((control, event) => auditSystem(control, deps, event));
}

function toLevel({ workspace, app }: LevelTarget): PolicyLevel {
  return { workspace: (app?.workspace ?? workspace)?.id ?? null, app: app?.id ?? null };
}

function toChange({ workspace }: PolicyLevel) {
  return workspace === null ? { kind: 'policies' as const } : { kind: 'policies' as const, workspace };
}
