// What the record benches work on: a workspace, an app, a collection of 10,000 records, an app admin; and the way to
// the same table for the yardstick.
import postgres from 'postgres';
import { ownerRole } from '../../storage/sql/ids.ts';
import { login, request } from './client.ts';
import { locateApp } from './control.ts';
import { type Plan, renderRequest } from './load.ts';
import { type BenchServer, startServer, withDataDir } from './server.ts';
import type { YardstickTable } from './yardstick-process.ts';

/** A server that is set up. */
export interface Stage {
  server: BenchServer;
  /** Token of the master admin. */
  master: string;
}

/** A collection with records in it. */
export interface RecordStage extends Stage {
  /** Token of an app admin. */
  token: string;
  /** Path of the collection's records. */
  path: string;
  /** The same table, for the yardstick. */
  table: YardstickTable;
  ids: readonly string[];
}

/** One caller who reads records, 200 a second at most: what others have of a server that is busy otherwise. */
export function calmReads({ path, token, ids, server }: RecordStage, seconds: number): Plan {
  return {
    port: server.port,
    requests: ids.map((id) => renderRequest({ method: 'GET', path: `${path}/${id}`, token })),
    connections: 1,
    seconds,
    pauseMilliseconds: 4,
  };
}

const password = 'a long password of the bench';
/** Of the collection that records are made in. */
export const fields = [
  { name: 'title', kind: 'text', required: true, max: 200 },
  { name: 'body', kind: 'text' },
  { name: 'price', kind: 'number', min: 0 },
  { name: 'done', kind: 'bool' },
  { name: 'due', kind: 'datetime', index: true },
];
const records = 10_000;

/** A record as the create bench sends it. */
export const sample = {
  title: 'A title of some forty characters or so',
  body: 'Two sentences of text. They are as long as text in such fields tends to be, which is not very.',
  price: 12.5,
  done: false,
  due: '2026-05-04T12:00:00.000Z',
};

/** Runs work on a server that was just set up. */
export async function withStage<Result>(work: (stage: Stage) => Promise<Result>): Promise<Result> {
  return await withDataDir(async (dataDir) => {
    const server = await startServer(dataDir);
    try {
      await setUp(server);
      return await work({ server, master: await masterLogin(server) });
    } finally {
      await server.stop();
    }
  });
}

/** Sets the master admin's password, which opens the server. */
export async function setUp(server: BenchServer): Promise<void> {
  await request(`${server.url}/_/setup`, { method: 'POST', body: { password } });
}

/** Logs the master admin in. */
export async function masterLogin(server: BenchServer): Promise<string> {
  return await login(`${server.url}/_/auth/admin/login`, { username: 'admin', password });
}

/** Runs work on a collection with records. */
export async function withRecords<Result>(work: (stage: RecordStage) => Promise<Result>): Promise<Result> {
  return await withStage(async (stage) => {
    const workspace = await makeWorkspace(stage, 'bench');
    const token = await makeAppAdmin(stage, workspace);
    const table = await locateTable(stage.server, 'bench');
    const ids = await fill({
      ...table,
      ...await locateApp(stage.server.dataDir, 'bench', 'shop', ownerRole),
    });
    return await work({
      ...stage,
      token,
      path: `${workspace}/apps/shop/collections/items/records`,
      table,
      ids,
    });
  });
}

/** Makes a workspace with nothing in it. */
export async function makeEmptyWorkspace({ server, master }: Stage, id: string): Promise<void> {
  await request(`${server.url}/api/workspaces`, {
    method: 'POST',
    token: master,
    body: { id, name: 'Bench' },
  });
}

/** Makes a workspace with an app and a collection; answers the workspace's path. `lap` hears of each step's end. */
export async function makeWorkspace(
  { server, master }: Stage,
  id: string,
  lap: (step: string) => void = () => undefined,
): Promise<string> {
  const path = `/api/workspaces/${id}`;
  const post = (to: string, body: unknown) =>
    request(server.url + to, { method: 'POST', token: master, body });
  await post('/api/workspaces', { id, name: 'Bench' });
  lap('workspace');
  await post(`${path}/apps`, { id: 'shop', name: 'Shop' });
  lap('app');
  await post(`${path}/apps/shop/collections`, { schema: { id: 'items', kind: 'base', fields } });
  lap('collection');
  return path;
}

/** Makes an admin of the workspace's app; answers its token. */
export async function makeAppAdmin({ server, master }: Stage, workspace: string): Promise<string> {
  const email = 'bench@example.com';
  const body = { email, password, name: 'Bench', app_ids: ['shop'] };
  await request(`${server.url}${workspace}/admins`, { method: 'POST', token: master, body });
  return await login(`${server.url}${workspace}/auth/admin/login`, { email, password });
}

async function locateTable(server: BenchServer, workspace: string): Promise<YardstickTable> {
  const app = await locateApp(server.dataDir, workspace, 'shop');
  return {
    ...app,
    table: 'items',
    columns: fields.map(({ name }) => name),
    sort: 'due desc',
    connections: 4,
  };
}

/** Writes the records in one statement, as the owner of the table; how fast that is nobody asks. Answers some of their ids. */
async function fill(table: YardstickTable): Promise<string[]> {
  const { host, port, database, username } = table;
  const sql = postgres({ host, port, database, username, password: table.password, max: 1 });
  const name = sql(`${table.schema}.${table.table}`);
  try {
    await sql`
      insert into ${name} (id, title, body, price, done, due, created_at, updated_at)
      select uuidv7(), ${sample.title}::text || n, ${sample.body}::text, n, n % 2 = 0,
        timestamptz '2026-01-01 00:00Z' + (n * 7919 % ${records}) * interval '1 minute', now(), now()
      from generate_series(1, ${records}) n`;
    await sql`analyze ${name}`;
    const rows = await sql<{ id: string }[]>`select id from ${name} order by random() limit 1000`;
    return rows.map(({ id }) => id);
  } finally {
    await sql.end();
  }
}
