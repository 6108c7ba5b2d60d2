// The server's own databases, opened beside it: to find the table behind a collection, and to know when it rests.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import postgres from 'postgres';
import { Secrets } from '../../storage/secrets.ts';
import { derivePassword } from '../../supervisor/master-key.ts';

/** Where a database is, and as whom to connect. */
export interface Access {
  host: string;
  port: number;
  database: string;
  username: string;
  password: string;
}

/** Schema and access of an app, as one of its roles. */
export interface AppAccess extends Access {
  schema: string;
}

const provisioner = 'bulkhead';
const spares = 3;

/** Finds an app's schema in the control database: its name says nothing. `roleOf`: as whom, if not as the app's own role. */
export async function locateApp(
  dataDir: string,
  workspace: string,
  app: string,
  roleOf = (schema: string) => schema,
): Promise<AppAccess> {
  const database = await text(dataDir, provisioner, {
    query: 'select database from control.workspaces where id = $1',
    parameters: [workspace],
  });
  const schema = await text(dataDir, database, {
    query: 'select schema from workspace.apps where id = $1',
    parameters: [app],
  });
  const secrets = new Secrets(await masterKeyOf(dataDir));
  const username = roleOf(schema);
  const password = secrets.derivePassword(username);
  return { ...endpointOf(dataDir), database, username, password, schema };
}

/** Waits until the server has as many workspace databases ready as it keeps, and none to drop. */
export async function untilRested(dataDir: string): Promise<void> {
  const query =
    `select count(*) filter (where state = 'spare') - count(*) filter (where state in ('creating', 'dropping'))
    from control.tenant_databases`;
  while (Number(await text(dataDir, provisioner, { query, parameters: [] })) < spares) await pause(20);
}

/** Runs statements on the control database, as the provisioner. */
export function onControl(dataDir: string, work: Work): Promise<void> {
  return onDatabase(dataDir, provisioner, work);
}

/** Statements on a connection. */
type Work = (sql: postgres.Sql) => Promise<void>;

/** Runs statements on a database, as the provisioner. */
export async function onDatabase(dataDir: string, database: string, work: Work): Promise<void> {
  const password = derivePassword(await masterKeyOf(dataDir), provisioner);
  await onEndpoint({ ...endpointOf(dataDir), database, username: provisioner, password }, work);
}

/** Runs statements where this access leads, on one connection. */
export async function onEndpoint(
  { host, port, database, username, password }: Access,
  work: Work,
): Promise<void> {
  const sql = postgres({ host, port, database, username, password, max: 1 });
  try {
    await work(sql);
  } finally {
    await sql.end();
  }
}

/** The first column of the first row, as the provisioner. */
async function text(
  dataDir: string,
  database: string,
  { query, parameters }: { query: string; parameters: string[] },
): Promise<string> {
  const password = derivePassword(await masterKeyOf(dataDir), provisioner);
  const sql = postgres({ ...endpointOf(dataDir), database, username: provisioner, password, max: 1 });
  try {
    const [row] = await sql.unsafe(query, parameters).values();
    return String(row?.[0]);
  } finally {
    await sql.end();
  }
}

function endpointOf(dataDir: string): { host: string; port: number } {
  return { host: join(dataDir, 'run'), port: 5432 };
}

async function masterKeyOf(dataDir: string): Promise<Buffer> {
  return Buffer.from((await readFile(join(dataDir, 'master.key'), 'utf8')).trim(), 'base64');
}
