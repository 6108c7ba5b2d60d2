// Rows of control.workspaces.
import type { WorkspaceDefinition } from '../definition.ts';
import { type Page, type PageRequest, selectPage } from '../sql/page.ts';
import type { Sql } from '../connections/pool.ts';

/** Adds a workspace with its database. Throws `StorageError` `conflict` (constraint `workspaces_id`) for a taken id. */
export async function insertWorkspace(
  sql: Sql,
  workspace: { id: string; name: string; database: string; expires_at?: Date | null; now: Date },
): Promise<WorkspaceDefinition> {
  const { id, name, database, expires_at = null, now } = workspace;
  await sql`
    insert into control.workspaces (id, name, database, expires_at, created_at, updated_at)
    values (${id}, ${name}, ${database}, ${expires_at}, ${now}, ${now})`;
  return { id, name, database, expires_at, created_at: now, updated_at: now };
}

/** True when the id is taken. */
export async function workspaceExists(sql: Sql, id: string): Promise<boolean> {
  const [row] = await sql`select 1 from control.workspaces where id = ${id}`;
  return row !== undefined;
}

/** True when exactly this workspace exists, not a later one with its id. Waits for a deletion in progress. */
export async function isSameWorkspace(
  sql: Sql,
  { id, database }: Pick<WorkspaceDefinition, 'id' | 'database'>,
): Promise<boolean> {
  const [row] = await sql`
    select 1 from control.workspaces where id = ${id} and database = ${database} for key share`;
  return row !== undefined;
}

/** The workspace, or undefined. */
export async function findWorkspace(sql: Sql, id: string): Promise<WorkspaceDefinition | undefined> {
  const [row] = await sql<WorkspaceDefinition[]>`
    select id, name, database, expires_at, source, created_at, updated_at from control.workspaces where id = ${id}`;
  return row;
}

/** A page of workspaces in the order of their ids; `only` leaves out all others. */
export async function selectWorkspaces(
  sql: Sql,
  request: PageRequest,
  only: string | undefined,
): Promise<Page<WorkspaceDefinition>> {
  const wanted = only === undefined ? sql`true` : sql`id = ${only}`;
  return await selectPage<WorkspaceDefinition>(sql, request, {
    columns: sql`id, name, database, expires_at, source, created_at, updated_at`,
    from: sql`control.workspaces where ${wanted}`,
    order: sql`id collate "C"`,
  });
}

/** What changes of a workspace; a member that is left out stays. */
export interface WorkspaceChange {
  name?: string | undefined;
  expires_at?: Date | null | undefined;
}

/** Changes exactly this workspace, and returns it with what it was; undefined when it is deleted. */
export async function updateWorkspaceRow(
  sql: Sql,
  { id, database }: Pick<WorkspaceDefinition, 'id' | 'database'>,
  { name, expires_at, now }: WorkspaceChange & { now: Date },
): Promise<{ workspace: WorkspaceDefinition; from: Required<WorkspaceChange> } | undefined> {
  const [row] = await sql<(WorkspaceDefinition & { name_before: string; expires_before: Date | null })[]>`
    with before as (
      select id, name, expires_at from control.workspaces where id = ${id} and database = ${database} for update)
    update control.workspaces as now set name = ${name ?? sql`now.name`},
      expires_at = ${expires_at === undefined ? sql`now.expires_at` : expires_at}, updated_at = ${now}
    from before where now.id = before.id
    returning now.id, now.name, now.database, now.expires_at, now.source, now.created_at, now.updated_at,
      before.name as name_before, before.expires_at as expires_before`;
  if (row === undefined) return undefined;
  const { name_before, expires_before, ...workspace } = row;
  return { workspace, from: { name: name_before, expires_at: expires_before } };
}

/** The workspaces whose time is over, the one that has waited longest first. */
export async function listExpiredWorkspaces(
  sql: Sql,
  { now, limit }: { now: Date; limit: number },
): Promise<WorkspaceDefinition[]> {
  return await sql<WorkspaceDefinition[]>`
    select id, name, database, expires_at, source, created_at, updated_at from control.workspaces
    where expires_at <= ${now} order by expires_at, id limit ${limit}`;
}

/** True when the time of exactly this workspace is over. Keeps it from being extended until the transaction ends. */
export async function lockExpiredWorkspace(
  sql: Sql,
  { id, database }: Pick<WorkspaceDefinition, 'id' | 'database'>,
  now: Date,
): Promise<boolean> {
  const [row] = await sql`
    select 1 from control.workspaces where id = ${id} and database = ${database} and expires_at <= ${now} for update`;
  return row !== undefined;
}

/** Removes exactly this workspace with its admins and their sessions, and returns it; undefined when it is deleted. */
export async function deleteWorkspace(
  sql: Sql,
  { id, database }: Pick<WorkspaceDefinition, 'id' | 'database'>,
): Promise<WorkspaceDefinition | undefined> {
  const [row] = await sql<WorkspaceDefinition[]>`
    delete from control.workspaces where id = ${id} and database = ${database}
    returning id, name, database, expires_at, source, created_at, updated_at`;
  return row;
}

/** The databases of all workspaces in the order of their ids, or that of only one. */
export async function listWorkspaceDatabases(
  sql: Sql,
  only?: string,
): Promise<{ id: string; database: string }[]> {
  const wanted = only === undefined ? sql`true` : sql`id = ${only}`;
  return await sql<{ id: string; database: string }[]>`
    select id, database from control.workspaces where ${wanted} order by id`;
}

/** The databases of workspaces for which a policy about databases is set, there or at the system. */
export async function listLimitedWorkspaces(sql: Sql): Promise<{ id: string; database: string }[]> {
  return await sql<{ id: string; database: string }[]>`
    select id, database from control.workspaces as workspaces
    where exists (select from control.policies where field like 'database.%'
      and (workspace is null or workspace = workspaces.id))
    order by id`;
}

/** The id of the workspace that has a database, or undefined. */
export async function findWorkspaceId(sql: Sql, database: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`select id from control.workspaces where database = ${database}`;
  return row?.id;
}
