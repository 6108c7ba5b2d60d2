// Makes the copy of a workspace's database a tenant of its own: other roles, schemas of other names, no right of the original's.
import type { Sql } from '../connections/pool.ts';
import { quoteIdentifier, quoteLiteral } from '../sql/quote.ts';
import { opaqueName, ownerRole, viewerRole } from '../sql/ids.ts';
import { createAppRoles } from './app.ts';
import type { Provisioning } from './cluster.ts';
import { inheritRoleText } from './roles.ts';
import { clearTraces, type CopiedSchema, resealSecrets } from './traces.ts';

/**
 * Hands everything in a copy over to new roles, and returns the apps' schemas. `sql` is the provisioner's transaction in the
 * copy, which nobody else may enter before it is committed. Throws when a role of the original has kept anything.
 */
export async function rehome(
  sql: Sql,
  provisioning: Provisioning,
  { from, to }: { from: string; to: string },
): Promise<CopiedSchema[]> {
  await dropSpareApps(sql);
  const rows = await sql<{ schema: string }[]>`select schema from workspace.apps order by schema`;
  const schemas = rows.map(({ schema }) => ({ from: schema, to: opaqueName('a_') }));
  for (const schema of schemas) await rehomeApp(sql, provisioning, { database: to, schema });
  await clearTraces(sql, provisioning.names.groups);
  await resealSecrets(sql, provisioning.secrets, { databases: { from, to }, schemas });
  await refuseForeignRights(sql, provisioning, schemas);
  return schemas;
}

/** The copy gets one of its own later. */
async function dropSpareApps(sql: Sql): Promise<void> {
  const spares = await sql<{ schema: string }[]>`delete from workspace.spare_apps returning schema`;
  for (const { schema } of spares) {
    const owner = ownerRole(schema);
    await sql.unsafe(`${inheritRoleText(owner)} drop schema ${quoteIdentifier(schema)} cascade;
      ${inheritRoleText(owner, false)}`);
  }
}

async function rehomeApp(
  sql: Sql,
  provisioning: Provisioning,
  { database, schema: { from, to } }: { database: string; schema: CopiedSchema },
): Promise<void> {
  const [viewer] = await sql`select from pg_roles where rolname = ${viewerRole(from)}`;
  const kinds = viewer === undefined ? [own, ownerRole] : [own, ownerRole, viewerRole];
  const roles = kinds.map((kind) => ({ from: kind(from), to: kind(to) }));
  await createAppRoles(sql, provisioning, { database, schema: to, hasViewer: viewer !== undefined });
  const all = roles.flatMap((role) => [role.from, role.to]);
  const [schema, owner, oldOwner, oldApp, app] = [from, ownerRole(to), ownerRole(from), from, to]
    .map(quoteIdentifier);
  const tables = 'select, insert, update, delete on tables';
  // The schema first: the owner of what is in it must be able to create in it.
  await sql.unsafe(`${all.map((role) => inheritRoleText(role)).join('\n')}
    alter schema ${schema} owner to ${owner};
    alter default privileges for role ${oldOwner} in schema ${schema} revoke ${tables} from ${oldApp};
    alter default privileges for role ${owner} in schema ${schema} grant ${tables} to ${app};
    ${roles.map(reassignText).join('\n')}`);
  for (const text of await grantTexts(sql, from, roles)) await sql.unsafe(text);
  await sql.unsafe(`alter schema ${schema} rename to ${quoteIdentifier(to)};`);
  await renameInFunctions(sql, { from, to });
  await sql`update workspace.apps set schema = ${to} where schema = ${from}`;
  await sql.unsafe(all.map((role) => inheritRoleText(role, false)).join('\n'));
}

function own(schema: string): string {
  return schema;
}

function reassignText({ from, to }: CopiedSchema): string {
  return `reassign owned by ${quoteIdentifier(from)} to ${quoteIdentifier(to)};`;
}

/** Statements that give a new role what its predecessor may do in the schema, and take it from that one. */
async function grantTexts(sql: Sql, schema: string, roles: readonly CopiedSchema[]): Promise<string[]> {
  const renamed = [...roles.map(({ from, to }) => `(${quoteLiteral(from)}, ${quoteLiteral(to)})`)].join(', ');
  const rows = await sql.unsafe<{ text: string }[]>(`
    with granted as (
      select case relkind when 'S' then 'sequence' else 'table' end as kind, oid::regclass::text as name,
        (aclexplode(relacl)).*
      from pg_class where relnamespace = ${quoteLiteral(quoteIdentifier(schema))}::regnamespace
        and relkind in ('r', 'p', 'v', 'm', 'S', 'f')
      union all
      select 'function', oid::regprocedure::text, (aclexplode(proacl)).*
      from pg_proc where pronamespace = ${quoteLiteral(quoteIdentifier(schema))}::regnamespace
      union all
      select 'schema', oid::regnamespace::text, (aclexplode(nspacl)).*
      from pg_namespace where nspname = ${quoteLiteral(schema)}
    )
    select format('grant %1$s on %2$s %3$s to %4$I%6$s; revoke all on %2$s %3$s from %5$I;',
      string_agg(privilege_type, ', '), kind, name, renamed.later, renamed.earlier,
      case when bool_or(is_grantable) then ' with grant option' else '' end) as text
    from granted join pg_roles on pg_roles.oid = grantee
    join (values ${renamed}) as renamed (earlier, later) on earlier = rolname
    group by kind, name, renamed.later, renamed.earlier`);
  return rows.map(({ text }) => text);
}

/** The text of a function names what it uses. Names of schemas are random, so nothing else looks like one. */
async function renameInFunctions(sql: Sql, { from, to }: CopiedSchema): Promise<void> {
  const functions = await sql<{ text: string }[]>`
    select pg_get_functiondef(oid) as text from pg_proc
    where pronamespace = ${quoteIdentifier(to)}::regnamespace and strpos(prosrc, ${from}) > 0`;
  for (const { text } of functions) await sql.unsafe(text.replaceAll(from, to));
}

/** PostgreSQL itself knows which role owns something in this database, or has a right to it. */
async function refuseForeignRights(
  sql: Sql,
  { names }: Provisioning,
  schemas: readonly CopiedSchema[],
): Promise<void> {
  const admitted = schemas.flatMap(({ to }) => [to, ownerRole(to), viewerRole(to)]);
  const found = await sql<{ name: string }[]>`
    select distinct rolname::text as name from pg_shdepend join pg_roles on pg_roles.oid = refobjid
    where dbid = (select oid from pg_database where datname = current_database())
      and refclassid = 'pg_authid'::regclass and rolname <> current_user
      and rolname::text <> all(${[...admitted, ...Object.values(names.groups)]})`;
  if (found.length === 0) return;
  throw new Error(`the copy of a database still belongs to ${found.map(({ name }) => name).join(', ')}`);
}
