// Rows of the audit logs: control.audit_log (system scope) and workspace.audit_log (workspace and app scope).
import { StorageError } from './errors.ts';
import { offsetOf, type Page, pageOf, type PageRequest } from './page.ts';
import type { Fragment, Sql } from './pool.ts';

/** One row to be appended. `id` is a v7 UUID: rows are listed by it, newest first. */
export interface AuditRow {
  id: string;
  ts: Date;
  actor: string;
  action: string;
  target: string;
  details: Readonly<Record<string, unknown>>;
  request_id: string | null;
  ip: string | null;
}

/** A row as it is listed: `details` has the `request_id`, which rows keep apart, unless the server acted by itself. */
export interface AuditEntry {
  id: string;
  ts: Date;
  actor: string;
  action: string;
  target: string;
  details: Record<string, unknown>;
}

/** Which rows are listed: `action` is a case-insensitive substring, `actor` exact. */
export interface AuditFilter {
  action?: string | undefined;
  actor?: string | undefined;
}

/** Appends at system scope. `workspace` is the one that the row is about, or null. */
export async function appendSystem(sql: Sql, row: AuditRow, workspace: string | null): Promise<void> {
  const { id, ts, actor, action, target, details, request_id, ip } = row;
  await sql`
    insert into control.audit_log (id, ts, actor, action, target, details, workspace, request_id, ip)
    values (${id}, ${ts}, ${actor}, ${action}, ${target}, ${
    jsonOf(sql, details)
  }, ${workspace}, ${request_id}, ${ip})`;
}

/** Appends at workspace scope; `sql` is the workspace's role or the provisioner in the workspace's database. */
export async function appendWorkspace(sql: Sql, row: AuditRow): Promise<void> {
  const { id, ts, actor, action, target, details, request_id, ip } = row;
  await sql`
    insert into workspace.audit_log (id, ts, actor, action, target, details, request_id, ip)
    values (${id}, ${ts}, ${actor}, ${action}, ${target}, ${jsonOf(sql, details)}, ${request_id}, ${ip})`;
}

/** Appends at the scope of the app whose role `sql` is connected as. */
export async function appendApp(sql: Sql, row: AuditRow): Promise<void> {
  const { id, ts, actor, action, target, details, request_id, ip } = row;
  const [written] = await sql<{ written: boolean | null }[]>`
    select workspace.audit_app(${id}, ${ts}, ${actor}, ${action}, ${target}, ${jsonOf(sql, details)},
      ${request_id}, ${ip}) as written`;
  if (written?.written !== true) throw new StorageError('undefined', 'the app of this role is gone');
}

/** Lists the system scope. */
export async function listSystem(
  sql: Sql,
  filter: AuditFilter,
  request: PageRequest,
): Promise<Page<AuditEntry>> {
  return await list(sql, { table: sql`control.audit_log`, where: matches(sql, filter) }, request);
}

/** Lists a workspace's scope: its own rows and those of all its apps, also of apps that are gone. */
export async function listWorkspace(
  sql: Sql,
  filter: AuditFilter,
  request: PageRequest,
): Promise<Page<AuditEntry>> {
  return await list(sql, { table: sql`workspace.audit_log`, where: matches(sql, filter) }, request);
}

/** Lists the scope of the app with this schema. */
export async function listApp(
  sql: Sql,
  { schema, ...filter }: AuditFilter & { schema: string },
  request: PageRequest,
): Promise<Page<AuditEntry>> {
  const where = sql`app_schema = ${schema} and ${matches(sql, filter)}`;
  return await list(sql, { table: sql`workspace.audit_log`, where }, request);
}

function matches(sql: Sql, { action, actor }: AuditFilter): Fragment {
  const byAction = action === undefined ? sql`true` : sql`strpos(lower(action), lower(${action})) > 0`;
  const byActor = actor === undefined ? sql`true` : sql`actor = ${actor}`;
  return sql`${byAction} and ${byActor}`;
}

async function list(
  sql: Sql,
  { table, where }: { table: Fragment; where: Fragment },
  request: PageRequest,
): Promise<Page<AuditEntry>> {
  const items = await sql<AuditEntry[]>`
    select id, ts, actor, action, target,
      details || jsonb_strip_nulls(jsonb_build_object('request_id', request_id)) as details
    from ${table} where ${where}
    order by id desc limit ${request.per_page} offset ${offsetOf(request)}`;
  if (!request.count) return pageOf([...items], 0, request);
  const [total] = await sql<{ count: number }[]>`select count(*)::int as count from ${table} where ${where}`;
  return pageOf([...items], total?.count ?? 0, request);
}

/** The details were made of plain JSON values; the driver's type for those knows no `unknown`. */
function jsonOf(sql: Sql, details: AuditRow['details']): ReturnType<Sql['typed']> {
  return sql.typed(details, jsonbOid);
}
const jsonbOid = 3802;
