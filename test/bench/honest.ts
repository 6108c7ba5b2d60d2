// What one workspace gets done with a load that is large but honest, alone on the server, against an earlier checkout.
import { join } from 'node:path';
import { request } from './client.ts';
import type { Figure, Findings } from './findings.ts';
import { type Plan, renderRequest, startGenerator } from './load.ts';
import { findDescendants } from './proc.ts';
import { compare, type Comparison, type Pace, type Side } from './rounds.ts';
import { type BenchServer, startServer, withDataDir } from './server.ts';
import { fields, makeAppAdmin, makeWorkspace, masterLogin, sample, setUp } from './stage.ts';

/** Bounds may cost those who do not need them so much at most. */
const leastShare = 0.9;
const smallRecords = 2_000;
const largeRecords = 250;
const atOnce = 50;

const source = `
onRecordBeforeCreate('hooked', (e) => { e.record.fields.price = 1; });
routerAdd('GET', '/burn', () => { let x = 0; for (let i = 0; i < 40000; i++) x = (x * 31 + i) % 65521; return { x }; });
`;

/**
 * Two servers with the same data, and the same loads on them in turn. `beside` is the folder of the earlier checkout; of the
 * loads, those are measured whose name begins with `only`.
 */
export async function benchHonest(pace: Pace, beside: string, only: string): Promise<Findings> {
  const generator = startGenerator();
  try {
    const figures = await withServers(beside, async (ours, earlier) => {
      const [now, before] = [await prepare(ours), await prepare(earlier)];
      const measured: Figure[] = [];
      for (const [name, requests] of Object.entries(now)) {
        if (!name.startsWith(only)) continue;
        const sides = { ours: sideOf(ours, requests), yardstick: sideOf(earlier, before[name] ?? []) };
        measured.push(...figuresOf(name, await compare(generator, sides, pace)));
      }
      return measured;
    });
    const title = 'one workspace alone on a server, against an earlier checkout';
    return { bench: 'honest', title, sides: ['now', 'earlier'], figures };
  } finally {
    await generator.stop();
  }
}

/** CPU time is that of the supervisor, the API and runners. */
function sideOf({ pid, port }: BenchServer, requests: readonly string[]): Side {
  return { name: 'server', pids: () => [pid, ...findDescendants(pid, '/main.')], plan: { port, requests } };
}

function figuresOf(name: string, { ours, yardstick, ratio, cpuRatio }: Comparison): Figure[] {
  return [
    {
      name: `${name}, requests/s`,
      unit: '',
      ours: ours.requestsPerSecond,
      baseline: yardstick.requestsPerSecond,
      ratio,
      goal: { text: `at least ${leastShare} of it`, reached: ratio.median >= leastShare },
    },
    {
      name: '  CPU of API and runner a request',
      unit: 'µs',
      ours: ours.cpu,
      baseline: yardstick.cpu,
      ratio: cpuRatio,
    },
  ];
}

async function withServers<Result>(
  beside: string,
  work: (ours: BenchServer, earlier: BenchServer) => Promise<Result>,
): Promise<Result> {
  const program = join(beside, 'supervisor', 'main.ts');
  return await withDataDir((first) =>
    withDataDir(async (second) => {
      const ours = await startServer(first);
      try {
        const earlier = await startServer(second, [], program);
        return await work(ours, earlier).finally(() => earlier.stop());
      } finally {
        await ours.stop();
      }
    })
  );
}

/** Fills a workspace; returns the requests of each load. */
async function prepare(server: BenchServer): Promise<Record<string, Plan['requests']>> {
  await setUp(server);
  const stage = { server, master: await masterLogin(server) };
  const workspace = await makeWorkspace(stage, 'honest');
  const token = await makeAppAdmin(stage, workspace);
  const app = `${workspace}/apps/shop`;
  const send = (method: string, path: string, body: unknown) =>
    request(`${server.url}${app}${path}`, { method, token, body });
  for (const id of ['large', 'hooked']) {
    await send('POST', '/collections', { schema: { id, kind: 'base', fields } });
  }
  await send('PUT', '/hooks/hooks.js', { source });
  const fill = async (collection: string, count: number, body: string) => {
    const ids: string[] = [];
    for (let made = 0; made < count; made += atOnce) {
      const create = () => send('POST', `/collections/${collection}/records`, { ...sample, body });
      const created = await Promise.all(Array.from({ length: atOnce }, create));
      ids.push(...created.map(({ id }) => String(id)));
    }
    return ids;
  };
  const ids = await fill('items', smallRecords, sample.body);
  await fill('large', largeRecords, 'x'.repeat(4_000));
  const get = (path: string) => renderRequest({ method: 'GET', path: `${app}${path}`, token });
  const post = (path: string) =>
    renderRequest({ method: 'POST', path: `${app}${path}`, token, body: sample });
  return {
    'a route of hooks that computes': [get('/custom/burn')],
    'gets': ids.map((id) => get(`/collections/items/records/${id}`)),
    'sorts of all records': [get('/collections/items/records?sort=-body,title&skip_total=true')],
    'pages of 800 KB': [get('/collections/large/records?per_page=200')],
    'creates': [post('/collections/items/records')],
    'creates with a hook': [post('/collections/hooked/records')],
  };
}
