// Makes and drops an app's schema and its two roles, in the caller's transaction.
import { applyMigration, latestVersion, type MigratedSchema } from '../boot/migrate.ts';
import type { Sql } from '../connections/pool.ts';
import { ownerRole, viewerRole } from '../sql/ids.ts';
import { type Provisioning, tenantRole } from './cluster.ts';
import { quoteIdentifier } from '../sql/quote.ts';
import { createRoleText, inheritRoleText } from './roles.ts';

/** The location of an app: the workspace's database, and the opaque name of its schema and role. */
export interface AppLocation {
  database: string;
  schema: string;
}

/** The schema of an app, which `migrations/app` changes. */
export function appSchema({ migrations, names }: Provisioning, schema: string): MigratedSchema {
  return { schema, table: '_migrations', migrations: migrations.app, groups: names.groups };
}

/**
 * Creates roles, schema and tables, and returns the version. `sql` is the provisioner's transaction in the workspace's
 * database.
 */
export async function createAppSchema(
  sql: Sql,
  provisioning: Provisioning,
  place: AppLocation,
): Promise<number> {
  const { migrations } = provisioning;
  const owner = quoteIdentifier(ownerRole(place.schema));
  await oneAtATime(sql);
  await sql.unsafe(`${appRolesText(provisioning, place)}
    create schema ${quoteIdentifier(place.schema)} authorization ${owner};
    set local role ${owner};`);
  for (const migration of migrations.app) {
    await applyMigration(sql, appSchema(provisioning, place.schema), migration);
  }
  await sql`set local role none`;
  return latestVersion(migrations.app);
}

/** Creates the roles of an app whose schema exists already, under another name. */
export async function createAppRoles(
  sql: Sql,
  provisioning: Provisioning,
  place: AppLocation & { hasViewer: boolean },
): Promise<void> {
  await sql.unsafe(
    `${appRolesText(provisioning, place)} ${place.hasViewer ? viewerText(place) : ''}`,
  );
}

/** SQL that creates the two roles that each app has. */
function appRolesText(provisioning: Provisioning, place: AppLocation): string {
  const { groups } = provisioning.names;
  return rolesText(provisioning, place, [
    { name: place.schema, group: groups.app },
    { name: ownerRole(place.schema), group: groups.appOwner },
  ]);
}

/** Makes the owner role of a schema that an earlier release left to the app's other role, and hands the schema over. */
export async function ensureOwner(sql: Sql, provisioning: Provisioning, place: AppLocation): Promise<void> {
  const name = ownerRole(place.schema);
  await oneAtATime(sql);
  if (await isRole(sql, name)) return;
  const [from, to] = [quoteIdentifier(place.schema), quoteIdentifier(name)];
  const role = { name, group: provisioning.names.groups.appOwner };
  await sql.unsafe(`${rolesText(provisioning, place, [role])}
    ${inheritRoleText(place.schema)} ${inheritRoleText(name)}
    reassign owned by ${from} to ${to};
    ${inheritRoleText(place.schema, false)} ${inheritRoleText(name, false)}`);
}

/**
 * Makes the role that owns the views of an app, if there is none. It cannot log in and has no right but to find names in the
 * schema; whoever makes a view adds the right to read what the view reads. Only the owner of the schema may become it.
 */
export async function ensureViewer(sql: Sql, place: AppLocation): Promise<void> {
  await oneAtATime(sql);
  const { schema } = place;
  if (await isRole(sql, viewerRole(schema))) return;
  await sql.unsafe(`${viewerText(place)}
    set local role ${quoteIdentifier(ownerRole(schema))};
    grant usage on schema ${quoteIdentifier(schema)} to ${quoteIdentifier(viewerRole(schema))};
    set local role none;`);
}

/** SQL that creates the role that owns the views of an app. */
function viewerText({ database, schema }: AppLocation): string {
  const viewer = quoteIdentifier(viewerRole(schema));
  return `set local createrole_self_grant = 'set';
    create role ${viewer} nologin nosuperuser nocreatedb nocreaterole noinherit noreplication nobypassrls;
    grant ${quoteIdentifier(database)} to ${viewer} with inherit false, set false;
    grant ${viewer} to ${quoteIdentifier(ownerRole(schema))} with inherit false, set true;`;
}

async function isRole(sql: Sql, name: string): Promise<boolean> {
  const [known] = await sql`select from pg_roles where rolname = ${name}`;
  return known !== undefined;
}

/** Drops everything of an app in the database: its connections, its schema with its content, its rights, its roles. */
export async function dropAppSchema(sql: Sql, schema: string): Promise<void> {
  await oneAtATime(sql);
  const roles = [
    schema,
    ownerRole(schema),
    ...await isRole(sql, viewerRole(schema)) ? [viewerRole(schema)] : [],
  ];
  const names = roles.map(quoteIdentifier).join(', ');
  // Statements that run in the app now are ended below. The lock timeout bounds the wait for later ones.
  await sql.unsafe(`set local lock_timeout = '5s'; ${roles.map((role) => inheritRoleText(role)).join(' ')}`);
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where usename in ${sql(roles)}`;
  await sql.unsafe(`drop owned by ${names} cascade; drop role ${names};`);
}

/**
 * SQL that creates roles of an app. They are members of the workspace's role only so that `samerole` in pg_hba admits them to
 * its database: they inherit nothing and cannot become that role. As few commands as possible, since PostgreSQL walks through
 * all roles of the provisioner for each.
 */
function rolesText(
  provisioning: Provisioning,
  { database }: AppLocation,
  roles: readonly { name: string; group: string }[],
): string {
  const made = roles.map(({ name, group }) =>
    createRoleText(tenantRole(provisioning, name, { database, group }))
  );
  const names = roles.map(({ name }) => quoteIdentifier(name)).join(', ');
  // The provisioner may become the roles that it makes from now on; a grant for it would be one more walk.
  return `set local createrole_self_grant = 'set'; ${made.join('\n')}
    grant ${quoteIdentifier(database)} to ${names} with inherit false, set false;
    grant connect on database ${quoteIdentifier(database)} to ${names};`;
}

/** GRANT … ON DATABASE in two transactions at once would fail with "tuple concurrently updated". */
async function oneAtATime(sql: Sql): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('bulkhead apps', 0))`;
}
