// Rows of workspace.apps: the apps of one workspace.
import { type Page, type PageRequest, selectPage } from '../sql/page.ts';
import type { Sql } from '../connections/pool.ts';

/** An app as it is stored; `schema` is the opaque name of its schema and role. */
export interface AppRow {
  id: string;
  name: string;
  schema: string;
  created_at: Date;
  updated_at: Date;
}

/** Adds an app. Throws `StorageError` `conflict` (constraint `apps_id`) for a taken id. */
export async function insertApp(
  sql: Sql,
  app: { id: string; name: string; schema: string; version: number; now: Date },
): Promise<AppRow> {
  const { id, name, schema, version, now } = app;
  await sql`
    insert into workspace.apps (id, name, schema, version, created_at, updated_at)
    values (${id}, ${name}, ${schema}, ${version}, ${now}, ${now})`;
  return { id, name, schema, created_at: now, updated_at: now };
}

/** The app, or undefined. */
export async function findAppRow(sql: Sql, id: string): Promise<AppRow | undefined> {
  const [row] = await sql<AppRow[]>`
    select id, name, schema, created_at, updated_at from workspace.apps where id = ${id}`;
  return row;
}

/** A page of apps in the order of their ids; `only` leaves out all others. */
export async function selectApps(
  sql: Sql,
  request: PageRequest,
  only: readonly string[] | undefined,
): Promise<Page<AppRow>> {
  const wanted = only === undefined ? sql`true` : sql`id = any(${[...only]})`;
  return await selectPage<AppRow>(sql, request, {
    columns: sql`id, name, schema, created_at, updated_at`,
    from: sql`workspace.apps where ${wanted}`,
    order: sql`id collate "C"`,
  });
}

/** Schemas of all apps. */
export async function listSchemas(sql: Sql): Promise<Set<string>> {
  const rows = await sql<{ schema: string }[]>`select schema from workspace.apps`;
  return new Set(rows.map(({ schema }) => schema));
}

/** The number of apps. */
export async function countApps(sql: Sql): Promise<number> {
  const [row] = await sql<{ apps: number }[]>`select count(*)::float8 as apps from workspace.apps`;
  return row?.apps ?? 0;
}

/** The same, while other transactions that add apps wait until this one ends. */
export async function countAppsLocked(sql: Sql): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended('apps', 0))`;
  return await countApps(sql);
}

/** Ids of all apps. */
export async function listAppIds(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from workspace.apps order by id collate "C"`;
  return rows.map(({ id }) => id);
}

/** Renames exactly this app, and returns it with its former name; undefined when it is deleted. */
export async function updateAppName(
  sql: Sql,
  { id, schema }: Pick<AppRow, 'id' | 'schema'>,
  { name, now }: { name: string; now: Date },
): Promise<{ app: AppRow; from: string } | undefined> {
  const [row] = await sql<(AppRow & { from: string })[]>`
    with before as (select id, name from workspace.apps where id = ${id} and schema = ${schema} for update)
    update workspace.apps as now set name = ${name}, updated_at = ${now} from before where now.id = before.id
    returning now.id, now.name, now.schema, now.created_at, now.updated_at, before.name as from`;
  if (row === undefined) return undefined;
  const { from, ...app } = row;
  return { app, from };
}

/** True when exactly this app exists, not a later one with its id. Waits for a deletion in progress. */
export async function isSameApp(
  sql: Sql,
  { id, schema }: Pick<AppRow, 'id' | 'schema'>,
): Promise<boolean> {
  const [row] = await sql`
    select 1 from workspace.apps where id = ${id} and schema = ${schema} for key share`;
  return row !== undefined;
}

/**
 * The schemas among these whose apps exist. Waits for deletions in progress, and keeps the apps from being deleted
 * until the transaction ends.
 */
export async function lockApps(sql: Sql, schemas: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ schema: string }[]>`
    select schema from workspace.apps where schema = any(${[...schemas]}) for key share`;
  return new Set(rows.map(({ schema }) => schema));
}

/** Removes the row of exactly this app, not of a later one with its id, and returns it; undefined when it is deleted. */
export async function deleteApp(sql: Sql, id: string, schema: string): Promise<AppRow | undefined> {
  const [row] = await sql<AppRow[]>`
    delete from workspace.apps where id = ${id} and schema = ${schema}
    returning id, name, schema, created_at, updated_at`;
  return row;
}

/** Schemas of the apps, spare ones included, that lack a migration. */
export async function listOutdatedApps(sql: Sql, version: number): Promise<string[]> {
  const rows = await sql<{ schema: string }[]>`
    select schema from workspace.apps where version < ${version}
    union all select schema from workspace.spare_apps where version < ${version} order by schema`;
  return rows.map(({ schema }) => schema);
}

/** Stores the version of an app's schema, spare or not. */
export async function setAppVersion(sql: Sql, schema: string, version: number): Promise<void> {
  await sql`update workspace.apps set version = ${version} where schema = ${schema}`;
  await sql`update workspace.spare_apps set version = ${version} where schema = ${schema}`;
}

/** Adds a schema that is ready for a new app. */
export async function insertSpareApp(sql: Sql, schema: string, version: number): Promise<void> {
  await sql`insert into workspace.spare_apps (schema, version) values (${schema}, ${version})`;
}

/** Takes a ready schema of this version; undefined when there is none. */
export async function takeSpareApp(sql: Sql, version: number): Promise<string | undefined> {
  const [row] = await sql<{ schema: string }[]>`
    delete from workspace.spare_apps
    where schema = (select schema from workspace.spare_apps where version = ${version} limit 1 for update skip locked)
    returning schema`;
  return row?.schema;
}

/** The schema that the next app is likely to get, or undefined. */
export async function peekSpareApp(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ schema: string }[]>`select schema from workspace.spare_apps limit 1`;
  return row?.schema;
}
