// Roles of the cluster: groups that hold rights, the owner of audit logs, a login role for each workspace and app.
import type { Sql } from '../connections/pool.ts';
import { quoteIdentifier, quoteLiteral } from '../sql/quote.ts';

/** Roles without login: they hold the rights of all workspace roles, all app roles and all owners of app schemas. */
export interface GroupRoles {
  workspace: string;
  app: string;
  appOwner: string;
  /** Owns the audit logs, so that the roles which use the database can add to them and no more. */
  auditor: string;
}

/** The names of an installation in the cluster. */
export interface ClusterNames {
  control: string;
  template: string;
  groups: GroupRoles;
}

/** All names follow from that of the control database, so that installations may share a cluster. */
export function clusterNames(control: string): ClusterNames {
  return {
    control,
    template: `${control}_template`,
    groups: {
      workspace: `${control}_workspace`,
      app: `${control}_app`,
      appOwner: `${control}_app_owner`,
      auditor: `${control}_auditor`,
    },
  };
}

/**
 * Creates the group roles once, before the first migration, which names them. In a transaction of the control database.
 * A lock serializes processes that start at once.
 */
export async function ensureGroupRoles(sql: Sql, groups: GroupRoles): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('bulkhead roles', 0))`;
  const wanted = Object.values(groups);
  const known = await sql<{ rolname: string }[]>`select rolname from pg_roles where rolname in ${
    sql(wanted)
  }`;
  const names = new Set(known.map(({ rolname }) => rolname));
  for (const group of wanted) {
    if (!names.has(group)) await sql.unsafe(`create role ${quoteIdentifier(group)} nologin noinherit`);
  }
  // Migrations hand tables over to the auditor, so the provisioner must be able to become it. Nothing inherits its
  // rights.
  if (!names.has(groups.auditor)) {
    await sql.unsafe(
      `grant ${quoteIdentifier(groups.auditor)} to current_user with inherit false, set true`,
    );
  }
}

/** A login role to make. */
export interface TenantRole {
  name: string;
  /** The only database it may connect to. */
  database: string;
  /** A SCRAM verifier, never a password. */
  verifier: string;
  /** The group whose rights it has. */
  group: string;
  connectionLimit: number;
}

/** SQL that creates a role which owns nothing and has only the rights of its group. */
export function createRoleText({ name, verifier, group, connectionLimit }: TenantRole): string {
  const role = quoteIdentifier(name);
  return `create role ${role} login password ${quoteLiteral(verifier)} nosuperuser nocreatedb nocreaterole
      noinherit noreplication nobypassrls connection limit ${Math.trunc(connectionLimit)};
    grant ${quoteIdentifier(group)} to ${role} with inherit true, set false;`;
}

/**
 * Sets the connection limit of all tenants' roles. Existing ones have the limit of when they were made, and the server
 * would refuse the connections that the present settings allow. In a transaction of the control database.
 */
export async function limitTenantConnections(
  sql: Sql,
  { workspace, app, appOwner }: GroupRoles,
  connectionLimit: number,
): Promise<void> {
  const limit = Math.trunc(connectionLimit);
  const roles = await sql<{ rolname: string }[]>`
    select member.rolname from pg_auth_members
    join pg_roles as granted on granted.oid = pg_auth_members.roleid
    join pg_roles as member on member.oid = pg_auth_members.member
    where granted.rolname in (${workspace}, ${app}, ${appOwner}) and member.rolcanlogin
      and member.rolname <> current_user and member.rolconnlimit <> ${limit}`;
  if (roles.length === 0) return;
  await sql.unsafe(
    roles.map(({ rolname }) => `alter role ${quoteIdentifier(rolname)} connection limit ${limit};`).join(
      '\n',
    ),
  );
}

/**
 * SQL that gives the provisioner the rights of a role, or takes them. Since PostgreSQL 16, the maker of a role may not
 * end its sessions, nor drop or hand over what it owns. https://www.postgresql.org/docs/18/role-membership.html
 */
export function inheritRoleText(role: string, inherits = true): string {
  return `grant ${quoteIdentifier(role)} to current_user with inherit ${inherits};`;
}
