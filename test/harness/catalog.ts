// A picture of a schema, read from the catalog: the embedded PostgreSQL comes without pg_dump.
import type { Sql } from '../../storage/connections/pool.ts';

/** Lines that describe every table, view, index, constraint and function of a schema, and who may do what. */
export async function describeSchema(sql: Sql, schema: string): Promise<string> {
  const parts = [await relations(sql, schema), await functions(sql, schema), await rights(sql, schema)];
  return `${parts.flat().join('\n')}\n`;
}

async function relations(sql: Sql, schema: string): Promise<string[]> {
  const rows = await sql<{ name: string; kind: string; definition: string | null }[]>`
    select c.relname::text as name, c.relkind::text as kind,
      case c.relkind when 'v' then pg_get_viewdef(c.oid, true) end as definition
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relkind in ('r', 'v') order by c.relkind, c.relname`;
  const described = await Promise.all(rows.map(async ({ name, kind, definition }) => {
    if (kind === 'v') {
      return [
        `view ${name}`,
        ...(definition ?? '').split('\n').map((line) => `  ${line.trim()}`),
        '',
      ];
    }
    return [`table ${name}`, ...await columns(sql, schema, name), ...await attached(sql, schema, name), ''];
  }));
  return described.flat();
}

async function columns(sql: Sql, schema: string, table: string): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    select concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then 'not null' end,
      case a.attgenerated when 's' then 'generated' else case when d.oid is not null then 'default' end end,
      pg_get_expr(d.adbin, d.adrelid)) as line
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where n.nspname = ${schema} and c.relname = ${table} and a.attnum > 0 and not a.attisdropped order by a.attnum`;
  return rows.map(({ line }) => `  ${line}`);
}

/** Constraints (but for NOT NULL, which the columns say) and the indexes that are no constraint's. */
async function attached(sql: Sql, schema: string, table: string): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    with target as (
      select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${schema} and c.relname = ${table})
    select 'constraint ' || conname || ' ' || pg_get_constraintdef(oid) as line
    from pg_constraint where conrelid in (select oid from target) and contype <> 'n'
    union all
    select pg_get_indexdef(i.indexrelid) from pg_index i
    where i.indrelid in (select oid from target)
      and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.conrelid = i.indrelid)
    order by line`;
  return rows.map(({ line }) => `  ${line}`);
}

async function functions(sql: Sql, schema: string): Promise<string[]> {
  const rows = await sql<{ definition: string }[]>`
    select pg_get_functiondef(p.oid) as definition from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = ${schema} order by p.proname`;
  return rows.flatMap(({ definition }) => [...definition.trimEnd().split('\n'), '']);
}

/** Rights of everybody but the owner, on the schema and all in it. */
async function rights(sql: Sql, schema: string): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    with acl as (
      select 'schema' as kind, nspname::text as name, null::text as part, nspacl as acl, nspowner as owner
      from pg_namespace where nspname = ${schema}
      union all
      select 'on', relname, null, coalesce(relacl, acldefault('r', relowner)), relowner
      from pg_class c join pg_namespace n on n.oid = c.relnamespace where nspname = ${schema} and relkind in ('r', 'v')
      union all
      select 'on', relname, attname, attacl, relowner
      from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
      where nspname = ${schema} and attacl is not null
      union all
      select 'function', proname, null, coalesce(proacl, acldefault('f', proowner)), proowner
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace where nspname = ${schema})
    select concat('grant ', lower(string_agg(privilege_type, ', ' order by privilege_type)), ' ', kind, ' ', name,
      case when part is not null then ' (' || part || ')' end, ' to ',
      coalesce(nullif(grantee, 0)::regrole::text, 'public')) as line
    from acl, aclexplode(acl) where grantee <> owner
    group by kind, name, part, grantee order by line`;
  return rows.map(({ line }) => line);
}
