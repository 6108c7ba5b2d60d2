// Makes a workspace's database: a clone of the migrated template, the one role that may connect to it, a first app.
import { insertSpareApp, peekSpareApp } from '../workspace/apps.ts';
import { StorageError } from '../errors.ts';
import { opaqueName } from '../sql/ids.ts';
import type { Sql } from '../connections/pool.ts';
import { currentVersions, lockDatabase, type Provisioning, tenantRole, tryLockDatabase } from './cluster.ts';
import { createAppSchema } from './app.ts';
import { quoteIdentifier, quoteLiteral } from '../sql/quote.ts';
import { limitDatabaseText } from './database-limits.ts';
import { createRoleText, type TenantRole } from './roles.ts';
import { isAssigned, markSpare, type TenantVersions } from '../control/tenant-databases.ts';

/**
 * Makes a complete workspace database, leaves it as a spare, and returns its opaque name. Its row is committed first,
 * and a session-level lock is held: so the reaper removes what a crash leaves, and nothing that is being made. Throws
 * `StorageError`.
 */
export async function makeDatabase(provisioning: Provisioning): Promise<string> {
  const name = opaqueName('w_');
  const { databases, names } = provisioning;
  await databases.onOwnConnection(async (sql) => {
    await lockDatabase(sql, name);
    await beginDatabase(sql, provisioning, name);
    await sql.unsafe(
      `create database ${quoteIdentifier(name)} template ${quoteIdentifier(names.template)}
       strategy wal_log allow_connections false`,
    );
    await openDatabase(sql, name);
    // Also opens the first connection, which writes the catalog cache file of the database.
    await databases.provisioner(name).transaction((tenant) => makeSpareApp(tenant, provisioning, name));
    if (!await markSpare(sql, name)) throw new StorageError('unavailable', 'the new database was taken back');
  });
  return name;
}

/**
 * Makes the schema of a workspace's next app, unless there is one. The more roles there are in the cluster, the longer
 * PostgreSQL takes to make one more, and no request should wait for that. The lock keeps the reaper from dropping the database
 * meanwhile, which would not see the new roles.
 */
export async function refillSpareApp(provisioning: Provisioning, database: string): Promise<void> {
  const { databases } = provisioning;
  await databases.onOwnConnection(async (sql) => {
    if (!await tryLockDatabase(sql, database) || !await isAssigned(sql, database)) return;
    await databases.provisioner(database).transaction(async (tenant) => {
      if (await peekSpareApp(tenant) === undefined) await makeSpareApp(tenant, provisioning, database);
    });
  });
}

/** Commits the row of a database that is to be made, with the role that will connect to it. */
export async function beginDatabase(sql: Sql, provisioning: Provisioning, name: string): Promise<void> {
  const { groups } = provisioning.names;
  const role = tenantRole(provisioning, name, { database: name, group: groups.workspace });
  await sql.unsafe(beginText(role, currentVersions(provisioning.migrations)));
}

/** Bounds a new database, and opens it for its role alone. */
export async function openDatabase(sql: Sql, name: string): Promise<void> {
  const [database, role] = [quoteIdentifier(name), quoteIdentifier(name)];
  await sql.unsafe(
    `revoke all on database ${database} from public;
     grant connect on database ${database} to ${role};
     ${limitDatabaseText(name)}
     alter database ${database} allow_connections true;`,
  );
}

/** Several statements, which run in one implicit transaction when they are sent as one. */
function beginText(role: TenantRole, { workspace, app }: TenantVersions): string {
  return `insert into control.tenant_databases (name, state, version, app_version)
      values (${quoteLiteral(role.name)}, 'creating', ${workspace}, ${app});
    ${createRoleText(role)}`;
}

/** Makes the schema of the first app, which most workspaces soon have. */
async function makeSpareApp(sql: Sql, provisioning: Provisioning, database: string): Promise<void> {
  const schema = opaqueName('a_');
  const version = await createAppSchema(sql, provisioning, { database, schema });
  await insertSpareApp(sql, schema, version);
}
