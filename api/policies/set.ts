// Setting and removing a policy: check, cascade and audit, as one change.
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
import { findDefinition, levelAt, serverSpec } from './chain.ts';
import { checkedSpec, isFieldName, maxFieldLength } from './checked-spec.ts';
import { type PolicyResponse, showLevel } from './show.ts';
import { type PolicySpec, violation } from './spec.ts';

/** The level that a policy is set at: the system, a workspace, or an app. */
export interface LevelTarget {
  workspace?: WorkspaceDefinition;
  app?: AppDefinition;
}

/** Which policy is changed, and by whom. */
export interface PolicyChange {
  field: string;
  caller: Caller;
}

type SetDeps = Pick<Deps, 'config' | 'databases' | 'policyCache' | 'newId' | 'now'>;

/** Of all policies of a workspace and its apps, as JSON. */
const maxBytes = 4 * 1_048_576;

/**
 * Sets a policy and clamps what lies below. Throws `400 validation` for a name or spec that cannot be,
 * `400 policy_violation` outside of the bound above.
 */
export async function setPolicy(
  deps: SetDeps,
  target: LevelTarget,
  spec: PolicySpec,
  { field, caller }: PolicyChange,
): Promise<PolicyResponse & { cascaded: Cascaded[] }> {
  const wanted = checkedSpec(field, spec);
  const place = placeOf(target);
  const { rows, cascaded } = await change(
    deps,
    target,
    { field, caller, action: 'policy_set' },
    async (sql, before) => {
      const bound = boundAbove(before, place, ownBound(deps, field));
      const reason = bound === undefined || place.workspace === null ? undefined : violation(wanted, bound);
      if (reason !== undefined) fail('policy_violation', `${field}: ${reason}`);
      await putPolicies(sql, [{ ...place, field, spec: wanted, updated_at: caller.now }]);
      await refuseTooMuch(sql, place, wanted);
      return wanted;
    },
  );
  // As it was then: it may have been removed again by now, and the app with it.
  return { ...showLevel(deps.config, { field, scope: levelAt(place) }, entriesAt(rows, place)), cascaded };
}

/** All policies of a workspace are read together and kept in memory. Those that are no list are short. */
async function refuseTooMuch(sql: Sql, { workspace }: PolicyLevel, { kind }: PolicySpec): Promise<void> {
  if (workspace === null || kind !== 'enum_set' || await policyBytes(sql, workspace) <= maxBytes) return;
  const reason = `is too much: the policies of a workspace and its apps take up at most ${maxBytes} bytes`;
  failValidation([{ field: 'allowed', reason }]);
}

/** Removes what a level has set; below, the bounds of the levels above hold. Throws `404 not_found`. */
export async function removePolicy(
  deps: SetDeps,
  target: LevelTarget,
  { field, caller }: PolicyChange,
): Promise<{ ok: true }> {
  const place = placeOf(target);
  const failNotSet = () =>
    fail('not_found', `policy "${field.slice(0, maxFieldLength)}" is not set at this level`);
  if (!isFieldName(field)) failNotSet();
  await change(deps, target, { field, caller, action: 'policy_delete' }, async (sql) => {
    if (!await deletePolicy(sql, { ...place, field })) failNotSet();
    return null;
  });
  return { ok: true };
}

/**
 * Runs a change of one row, then clamps the rows below it, in one transaction with the audit entry. Answers the rows as
 * they were before the clamps. An entry in a workspace's own database is committed first: a change without one cannot
 * be, at worst there is one of a change that failed at its very end.
 */
async function change(
  deps: SetDeps,
  target: LevelTarget,
  { field, caller, action }: PolicyChange & { action: string },
  apply: (sql: Sql, rows: readonly StoredPolicy[]) => Promise<PolicySpec | null>,
): Promise<{ rows: PolicyRow[]; cascaded: Cascaded[] }> {
  const place = placeOf(target);
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
      cascaded.map(({ workspace, app, to }) => rowOf({ workspace, app, field }, to, caller)),
    );
    const from = before.find((row) => row.workspace === place.workspace && row.app === place.app)?.spec ??
      null;
    await audit(sql, {
      actor: await actorName(sql, caller.principal),
      action,
      target: field,
      details: { from, to, ...(cascaded.length > 0 ? { cascaded } : {}) },
      origin: caller.origin,
    });
    await notifyChange(sql, policiesOf(place));
    return { rows, cascaded };
  };
  const changed = await auditing(deps, target, (audit) => deps.databases.control.transaction(make(audit)));
  deps.policyCache.onChange(policiesOf(place));
  return changed;
}

function ownBound({ config }: Pick<Deps, 'config'>, field: string): PolicySpec | undefined {
  const definition = findDefinition(field);
  return definition === undefined ? undefined : serverSpec(definition, config);
}

function rowOf(place: PolicyLevel & { field: string }, spec: PolicySpec, { now }: Caller) {
  return { ...place, spec, updated_at: now };
}

/** Writes the entry of a change, whose transaction is `control`. */
type Audit = (control: Sql, event: AuditEvent) => Promise<void>;

/** Runs a change, which has everybody who changes policies wait, and must not itself wait for a tenant. */
function auditing<Result>(
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

function placeOf({ workspace, app }: LevelTarget): PolicyLevel {
  return { workspace: (app?.workspace ?? workspace)?.id ?? null, app: app?.id ?? null };
}

function policiesOf({ workspace }: PolicyLevel) {
  return workspace === null ? { kind: 'policies' as const } : { kind: 'policies' as const, workspace };
}
