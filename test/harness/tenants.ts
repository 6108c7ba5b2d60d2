// Workspaces and apps below the features: databases, schemas and roles as provisioning makes them.
import { insertApp } from '../../storage/workspace/apps.ts';
import type { Storage } from '../../storage/boot/boot.ts';
import { opaqueName, ownerRole } from '../../storage/sql/ids.ts';
import { makeDatabase } from '../../storage/provision/database.ts';
import type { Endpoint, Sql } from '../../storage/connections/pool.ts';
import { createAppSchema } from '../../storage/provision/app.ts';
import { type OwnInstallation, ownInstallation } from './database.ts';

/** A workspace database with one app in it. */
export interface Tenant {
  /** Name of the database and of the workspace's role. */
  database: string;
  /** Name of the app's schema and role. */
  schema: string;
}

/** Makes a workspace database with an app. */
export async function makeTenant(storage: Storage): Promise<Tenant> {
  const database = await makeDatabase(storage.provisioning);
  return { database, schema: await makeApp(storage, database) };
}

/** Makes another app in a workspace database and answers the name of its schema. */
export async function makeApp(storage: Storage, database: string): Promise<string> {
  const schema = opaqueName('a_');
  await storage.databases.provisioner(database).transaction(async (sql) => {
    const version = await createAppSchema(sql, storage.provisioning, { database, schema });
    await insertApp(sql, { id: schema.slice(2), name: 'An app', schema, version, now: new Date() });
  });
  return schema;
}

/** The roles of a tenant that the API connects as; the owner is that of the app's schema. */
export type Who = 'workspace' | 'app' | 'owner';

/** Two workspaces of an installation of its own, the first of them with two apps; and what its roles may do. */
export interface TwoTenants {
  own: OwnInstallation;
  storage: Storage;
  a: Tenant;
  b: Tenant;
  /** Schema of the second app of `a`. */
  second: string;
  /** How a role of `a` logs in. */
  login(who: Who, database?: string): Partial<Endpoint>;
  /** Runs statements as a role of `a`. */
  as<Result>(who: Who, work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /** `allowed`, or the code that a statement of a role of `a` is refused with. */
  attempt(who: Who, text: string): Promise<string>;
}

/** Makes them; `own.remove` drops them. */
export async function twoTenants(): Promise<TwoTenants> {
  const own = await ownInstallation();
  const storage = await own.open();
  const [a, b] = [await makeTenant(storage), await makeTenant(storage)];
  const second = await makeApp(storage, a.database);
  const login: TwoTenants['login'] = (who, database = a.database) => {
    const username = { workspace: a.database, app: a.schema, owner: ownerRole(a.schema) }[who];
    return { database, username, password: storage.secrets.derivePassword(username) };
  };
  const as: TwoTenants['as'] = (who, work) => own.as(login(who), work);
  const attempt: TwoTenants['attempt'] = (who, text) =>
    as(who, (sql) => sql.unsafe(text).then(() => 'allowed', codeOf));
  return { own, storage, a, b, second, login, as, attempt };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
