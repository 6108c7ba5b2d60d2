// Rows of control.policies: the settings of each level.
import type { Sql } from '../connections/pool.ts';
import { jsonb } from '../sql/jsonb.ts';

/** The level of a policy: the system (both null), a workspace, or an app. */
export interface PolicyLevel {
  workspace: string | null;
  app: string | null;
}

/** One stored policy. `spec` is as it was written; the caller knows its shape. */
export interface PolicyRow extends PolicyLevel {
  field: string;
  spec: unknown;
  updated_at: Date;
}

/** Serializes writers of policies until the transaction ends, so that a check against a parent holds. */
export async function lockPolicies(sql: Sql): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('policies', 0))`;
}

/** The policies that apply in a workspace: those of the system, the workspace and its apps; without one, the system's. */
export async function listPoliciesFor(sql: Sql, workspace: string | undefined): Promise<PolicyRow[]> {
  return await sql<PolicyRow[]>`
    select workspace, app, field, spec, updated_at from control.policies
    where workspace is null or workspace = ${workspace ?? null}`;
}

/** Every row of a field, parents before their children. */
export async function listFieldPolicies(sql: Sql, field: string): Promise<PolicyRow[]> {
  return await sql<PolicyRow[]>`
    select workspace, app, field, spec, updated_at from control.policies where field = ${field}
    order by workspace collate "C" nulls first, app collate "C" nulls first`;
}

/** The size of all policies of a workspace and its apps, as JSON, in bytes. */
export async function policyBytes(sql: Sql, workspace: string): Promise<number> {
  const [row] = await sql<{ size: number }[]>`
    select coalesce(sum(octet_length(spec::text)), 0)::float8 as size from control.policies
    where workspace = ${workspace}`;
  return row?.size ?? 0;
}

/** Writes rows, in place of earlier ones. */
export async function putPolicies(sql: Sql, rows: readonly PolicyRow[]): Promise<void> {
  if (rows.length === 0) return;
  const values = rows.map(({ workspace, app, field, spec, updated_at }) => ({
    workspace,
    app,
    field,
    spec,
    updated_at,
  }));
  await sql`
    insert into control.policies (workspace, app, field, spec, updated_at)
    select workspace, app, field, spec, updated_at from jsonb_to_recordset(${jsonb(sql, values)})
      as row (workspace text, app text, field text, spec jsonb, updated_at timestamptz)
    on conflict on constraint policies_place
    do update set spec = excluded.spec, updated_at = excluded.updated_at`;
}

/** Removes a row; false when there is none. */
export async function deletePolicy(
  sql: Sql,
  { workspace, app, field }: PolicyLevel & { field: string },
): Promise<boolean> {
  const deleted = await sql`
    delete from control.policies
    where field = ${field} and workspace is not distinct from ${workspace} and app is not distinct from ${app}`;
  return deleted.count > 0;
}

/** Removes the policies of an app; false when it has none. */
export async function deleteAppPolicies(sql: Sql, workspace: string, app: string): Promise<boolean> {
  const deleted = await sql`delete from control.policies where workspace = ${workspace} and app = ${app}`;
  return deleted.count > 0;
}
