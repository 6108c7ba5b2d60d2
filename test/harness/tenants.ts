// Workspaces and apps below the features: databases, schemas and roles as provisioning makes them.
import { insertApp } from '../../storage/apps.ts';
import type { Storage } from '../../storage/boot.ts';
import { opaqueName } from '../../storage/ids.ts';
import { makeDatabase } from '../../storage/provision-database.ts';
import { createAppSchema } from '../../storage/provision-app.ts';

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
