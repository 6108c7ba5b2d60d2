// Rows of control.workspace_templates: what clones of workspaces were made from.
import type { Sql } from '../../connections/pool.ts';

/** Keeps what the control database says of a workspace, together with the copy of its database. */
export async function insertTemplate(
  sql: Sql,
  { database, source }: { database: string; source: string },
): Promise<void> {
  await sql`
    insert into control.workspace_templates (database, origins, policies)
    select ${database}, origins, coalesce((
      select jsonb_agg(jsonb_build_object('app', app, 'field', field, 'spec', spec))
      from control.policies where workspace = ${source}), '[]')
    from control.workspaces where id = ${source}`;
}

/** Makes a workspace a clone, of a source. */
export async function setTemplate(
  sql: Sql,
  { id, template, source }: { id: string; template: string; source: string },
): Promise<void> {
  await sql`update control.workspaces set template = ${template}, source = ${source} where id = ${id}`;
}

/** Sets policies and origins of a clone as its template has them. */
export async function applyTemplate(
  sql: Sql,
  { id, template, now }: { id: string; template: string; now: Date },
): Promise<void> {
  await sql`delete from control.policies where workspace = ${id}`;
  await sql`
    insert into control.policies (workspace, app, field, spec, updated_at)
    select ${id}, row.app, row.field, row.spec, ${now}
    from control.workspace_templates, jsonb_to_recordset(policies) as row (app text, field text, spec jsonb)
    where database = ${template}`;
  await sql`
    update control.workspaces as clone set origins = template.origins
    from control.workspace_templates as template where clone.id = ${id} and template.database = ${template}`;
}

/** The database that this very workspace was made from; undefined for one that is no clone, or is deleted. Locks it. */
export async function findTemplate(
  sql: Sql,
  { id, database }: { id: string; database: string },
): Promise<string | undefined> {
  const [row] = await sql<{ template: string | null }[]>`
    select template from control.workspaces where id = ${id} and database = ${database} for update`;
  return row?.template ?? undefined;
}

/** Gives this very workspace another database; false when it is deleted. What the old one had waiting, and its keys, go with it. */
export async function replaceDatabase(
  sql: Sql,
  { id, database }: { id: string; database: string },
  { to, now }: { to: string; now: Date },
): Promise<boolean> {
  const { count } = await sql`
    update control.workspaces set database = ${to}, updated_at = ${now}
    where id = ${id} and database = ${database}`;
  await sql`delete from control.mail_queue where workspace = ${id}`;
  await sql`delete from control.hook_jobs where workspace = ${id}`;
  await sql`delete from control.api_keys where workspace = ${id}`;
  return count === 1;
}
