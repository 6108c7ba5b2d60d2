// Appends to the audit logs: control.audit_log (system scope) and workspace.audit_log (workspace and app scope).
import { StorageError } from '../errors.ts';
import type { Sql } from '../connections/pool.ts';
import { jsonb } from '../sql/jsonb.ts';

/** One row to append. `id` is a v7 UUID: rows are listed by it, newest first. */
export interface AuditRow {
  id: string;
  ts: Date;
  actor: string;
  action: string;
  target: string;
  details: Readonly<Record<string, unknown>>;
  request_id: string | null;
  ip: string | null;
  user_agent: string | null;
}

/** Appends at system scope. `workspace` is the one that the row is about, or null. */
export async function appendSystem(sql: Sql, row: AuditRow, workspace: string | null): Promise<void> {
  const { id, ts, actor, action, target, details, request_id, ip, user_agent } = row;
  await sql`
    insert into control.audit_log (
      id, ts, actor, action, target, details, workspace, request_id, ip, user_agent)
    values (${id}, ${ts}, ${actor}, ${action}, ${target}, ${jsonb(sql, details)}, ${workspace}, ${request_id},
      ${ip}, ${user_agent})`;
}

/**
 * Appends at workspace scope, and returns the database's name. `sql` is the workspace's role, or the provisioner in the
 * workspace's database.
 */
export async function appendWorkspace(sql: Sql, row: AuditRow): Promise<string> {
  const { id, ts, actor, action, target, details, request_id, ip, user_agent } = row;
  const [written] = await sql<{ database: string }[]>`
    insert into workspace.audit_log (id, ts, actor, action, target, details, request_id, ip, user_agent)
    values (${id}, ${ts}, ${actor}, ${action}, ${target}, ${jsonb(sql, details)}, ${request_id}, ${ip},
      ${user_agent})
    returning current_database()::text as database`;
  if (written === undefined) throw new Error('an insert returned no row');
  return written.database;
}

/**
 * Appends at the scope of the app whose role `sql` is connected as, and returns the database's name. Throws
 * `StorageError` `undefined` when the app is deleted.
 */
export async function appendApp(sql: Sql, row: AuditRow): Promise<string> {
  const { id, ts, actor, action, target, details, request_id, ip, user_agent } = row;
  const [written] = await sql<{ database: string | null }[]>`
    select workspace.audit_app(${id}, ${ts}, ${actor}, ${action}, ${target}, ${jsonb(sql, details)},
      ${request_id}, ${ip}, ${user_agent}) as database`;
  const database = written?.database ?? null;
  if (database === null) throw new StorageError('undefined', 'the app of this role is gone');
  return database;
}
