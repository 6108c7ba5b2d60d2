// Rows of control.api_keys: keys of programs, with the rights of the admin who made them as the bound.
import type { Fragment, Sql } from '../connections/pool.ts';
import { type Page, type PageRequest, selectPage } from '../sql/page.ts';

/** The level of a key: the server, a workspace or an app. */
export interface KeyPlace {
  workspace: string | null;
  app: string | null;
}

/** A key as it is stored. */
export interface KeyRow extends KeyPlace {
  id: string;
  name: string;
  scopes: string[];
  /** The id of the admin who made it. */
  maker: string;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
}

/** A key with its maker as responses show it. */
export interface ShownKeyRow extends KeyRow {
  maker_name: string;
  maker_role: 'master_admin' | 'workspace_admin' | 'app_admin';
}

/** Locks the admin against changes until the transaction ends. True when it may act at the place. */
export async function lockMaker(sql: Sql, maker: string, { workspace, app }: KeyPlace): Promise<boolean> {
  const [master] = await sql`select 1 from control.master_admins where id = ${maker} for share`;
  if (master !== undefined) return true;
  const [admin] = await sql`
    select 1 from control.admins where id = ${maker} and workspace = ${workspace}
      and (role = 'workspace_admin' or ${app}::text = any(app_ids))
    for share`;
  return admin !== undefined;
}

/** Adds a key. */
export async function insertKey(sql: Sql, row: KeyRow & { secret_hash: Buffer }): Promise<void> {
  await sql`
    insert into control.api_keys (id, name, secret_hash, workspace, app, scopes, maker, created_at, expires_at)
    values (${row.id}, ${row.name}, ${row.secret_hash}, ${row.workspace}, ${row.app}, ${row.scopes},
      ${row.maker}, ${row.created_at}, ${row.expires_at})`;
}

/** The number of keys of a place. */
export async function countKeys(sql: Sql, place: KeyPlace): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from control.api_keys k where ${at(sql, place)}`;
  return row?.count ?? 0;
}

/**
 * The key with this hash, marked as used now; undefined when there is none, it has expired or its maker has lost the rights at
 * its place.
 */
export async function findUsedKey(sql: Sql, hash: Buffer, now: Date): Promise<ShownKeyRow | undefined> {
  const [row] = await sql<ShownKeyRow[]>`
    with used as (
      update control.api_keys set last_used_at = greatest(last_used_at, ${now})
      where secret_hash = ${hash} and (expires_at is null or expires_at > ${now}) returning *
    )
    select ${columns(sql)} from ${shown(sql, sql`used`)}
    where m.id is not null or a.workspace = k.workspace and (a.role = 'workspace_admin' or k.app = any(a.app_ids))`;
  return row;
}

/** The keys of a place, in the order of their creation. */
export async function selectKeys(sql: Sql, place: KeyPlace, page: PageRequest): Promise<Page<ShownKeyRow>> {
  const from = sql`${shown(sql, sql`control.api_keys`)} where ${at(sql, place)}`;
  return await selectPage<ShownKeyRow>(sql, page, { columns: columns(sql), from, order: sql`k.id` });
}

/** A key of a place, or undefined. */
export async function findKey(sql: Sql, place: KeyPlace, id: string): Promise<ShownKeyRow | undefined> {
  const [row] = await sql<ShownKeyRow[]>`
    select ${columns(sql)} from ${shown(sql, sql`control.api_keys`)}
    where ${at(sql, place)} and k.id = ${id}`;
  return row;
}

/** Removes a key of a place and returns its name; undefined when there is none. */
export async function deleteKey(sql: Sql, place: KeyPlace, id: string): Promise<string | undefined> {
  const [row] = await sql<{ name: string }[]>`
    delete from control.api_keys k where ${at(sql, place)} and k.id = ${id} returning k.name`;
  return row?.name;
}

/** Removes the keys of an app, and returns their ids. */
export async function deleteAppKeys(sql: Sql, workspace: string, app: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    delete from control.api_keys where workspace = ${workspace} and app = ${app} returning id`;
  return rows.map(({ id }) => id);
}

/** Removes the keys that a workspace or app admin may not have, and returns their ids. */
export async function deleteKeysBeyond(
  sql: Sql,
  maker: string,
  rights: { role: string; app_ids: readonly string[] } | undefined,
): Promise<string[]> {
  if (rights?.role === 'workspace_admin') return [];
  const rows = await sql<{ id: string }[]>`
    delete from control.api_keys
    where maker = ${maker} and not coalesce(app = any(${[
    ...rights?.app_ids ?? [],
  ]}::text[]), false) returning id`;
  return rows.map(({ id }) => id);
}

function at(sql: Sql, { workspace, app }: KeyPlace): Fragment {
  return sql`k.workspace is not distinct from ${workspace}::text and k.app is not distinct from ${app}::text`;
}

function shown(sql: Sql, keys: Fragment): Fragment {
  return sql`${keys} k left join control.master_admins m on m.id = k.maker left join control.admins a on a.id = k.maker`;
}

function columns(sql: Sql): Fragment {
  return sql`k.id, k.name, k.workspace, k.app, k.scopes, k.maker, k.created_at, k.expires_at, k.last_used_at,
    coalesce(m.username, a.email, k.maker::text) as maker_name,
    case when m.id is not null then 'master_admin' else coalesce(a.role, 'app_admin') end as maker_role`;
}
