// The origins of workspaces: those whose pages may use cookies, in control.workspaces.
import type { Sql } from '../connections/pool.ts';
import type { WorkspaceDefinition } from '../definition.ts';

/** A workspace and its origins. */
export interface WorkspaceOrigins {
  id: string;
  origins: string[];
}

/** All workspaces that have origins. */
export async function listWorkspaceOrigins(sql: Sql): Promise<WorkspaceOrigins[]> {
  return await sql<WorkspaceOrigins[]>`
    select id, origins from control.workspaces where origins <> '{}'`;
}

/** The origins of exactly this workspace; undefined when it is deleted. */
export async function findWorkspaceOrigins(
  sql: Sql,
  { id, database }: Pick<WorkspaceDefinition, 'id' | 'database'>,
): Promise<string[] | undefined> {
  const [row] = await sql<{ origins: string[] }[]>`
    select origins from control.workspaces where id = ${id} and database = ${database}`;
  return row?.origins;
}

/** The same, locked for a change. */
export async function lockWorkspaceOrigins(
  sql: Sql,
  { id, database }: Pick<WorkspaceDefinition, 'id' | 'database'>,
): Promise<string[] | undefined> {
  const [row] = await sql<{ origins: string[] }[]>`
    select origins from control.workspaces where id = ${id} and database = ${database} for update`;
  return row?.origins;
}

/** Sets the origins of a workspace. */
export async function updateWorkspaceOrigins(
  sql: Sql,
  id: string,
  { origins, now }: { origins: readonly string[]; now: Date },
): Promise<void> {
  await sql`
    update control.workspaces set origins = ${origins}::text[], updated_at = ${now} where id = ${id}`;
}
