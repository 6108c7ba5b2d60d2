// The yardstick: a bare h3 + postgres.js server with the same single statements on the same table, without any check.
// A process of its own, started by yardstick-process.ts.
import { H3, readBody, serve } from 'h3';
import postgres from 'postgres';
import type { YardstickTable } from './yardstick-process.ts';

interface Client {
  sql: postgres.Sql;
  inFlight: number;
}

type Query = (
  text: string,
  parameters: postgres.ParameterOrJSON<never>[],
) => Promise<postgres.RowList<postgres.Row[]>>;

/** As many single-connection clients as the server's own pool has, the least busy first. */
function connect(table: YardstickTable): Query {
  const { host, port, database, username, password } = table;
  const clients: Client[] = Array.from({ length: table.connections }, () => ({
    sql: postgres({ host, port, database, username, password, max: 1, fetch_types: false, idle_timeout: 0 }),
    inFlight: 0,
  }));
  return async (text, parameters) => {
    const client = clients.reduce((best, other) => other.inFlight < best.inFlight ? other : best);
    client.inFlight++;
    try {
      return await client.sql.unsafe(text, parameters, { prepare: true });
    } finally {
      client.inFlight--;
    }
  };
}

function mount(app: H3, table: YardstickTable): void {
  const query = connect(table);
  const name = `"${table.schema}"."${table.table}"`;
  const columns = table.columns.map((column) => `"${column}"`).join(', ');
  const places = table.columns.map((_column, index) => `$${index + 1}`).join(', ');
  const get = `select id, created_at, updated_at, ${columns} from ${name} where id = $1`;
  const list =
    `select id, created_at, updated_at, ${columns} from ${name} order by ${table.sort}, id limit 30 offset $1`;
  const create =
    `insert into ${name} (id, created_at, updated_at, ${columns}) values (uuidv7(), now(), now(), ${places}) ` +
    `returning id, created_at, updated_at, ${columns}`;
  app.get('/records/:id', async (event) => (await query(get, [event.context.params?.['id'] ?? '']))[0]);
  app.get('/records', async (event) => {
    const page = Number(event.url.searchParams.get('page'));
    return { items: await query(list, [(page - 1) * 30]) };
  });
  app.post('/records', async (event) => {
    const body = await readBody<Record<string, string | number | boolean>>(event);
    return (await query(create, table.columns.map((column) => body?.[column] ?? null)))[0];
  });
}

function mountFiltered(app: H3, table: YardstickTable): void {
  const { filter } = table;
  if (filter === undefined) return;
  const query = connect(table);
  const name = `"${table.schema}"."${table.table}"`;
  const columns = table.columns.map((column) => `"${column}"`).join(', ');
  const offset = `$${filter.params.length + 1}`;
  const list = `select id, created_at, updated_at, ${columns} from ${name} where ${filter.sql} ` +
    `order by ${table.sort}, id limit 30 offset ${offset}`;
  const count = `select count(*) from ${name} where ${filter.sql}`;
  const page = (event: { url: URL }) =>
    query(list, [...filter.params, (Number(event.url.searchParams.get('page')) - 1) * 30]);
  app.get('/filtered', async (event) => ({ items: await page(event) }));
  app.get('/counted', async (event) => {
    const [items, [total]] = await Promise.all([page(event), query(count, [...filter.params])]);
    return { items, total_items: Number(total?.['count']) };
  });
}

process.once('disconnect', () => process.exit());
process.once('message', async ({ table }: { table: YardstickTable | null }) => {
  const app = new H3();
  app.get('/hello', () => ({ initialized: true }));
  if (table !== null) {
    mount(app, table);
    mountFiltered(app, table);
  }
  const server = serve(app, { port: 0, hostname: '127.0.0.1', silent: true, gracefulShutdown: false });
  await server.ready();
  process.send?.(Number(new URL(server.url ?? '').port));
});
