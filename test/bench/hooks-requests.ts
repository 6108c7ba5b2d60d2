// What hooks cost the requests of their app, and nobody else's.
import { request } from './client.ts';
import type { Figure } from './findings.ts';
import { type Generator, renderRequest, startGenerator } from './load.ts';
import { countDescendants } from './proc.ts';
import { profile } from './profile.ts';
import { resultFile } from './report.ts';
import { compare, type Comparison, measure, type Pace, type Side } from './rounds.ts';
import { fields, makeAppAdmin, makeWorkspace, sample, type Stage } from './stage.ts';
import { spread } from './statistics.ts';
import { startYardstick } from './yardstick-process.ts';

/** What is in the command line of every runner, once. */
export const runnerProgram = '/proc/self/fd/4/main.js';

const source = `
onRecordBeforeCreate('items', (e: { record: { fields: { price: number } } }) => { e.record.fields.price = 1; });
routerAdd('GET', '/hello', () => ({ initialized: true }));
`;
/** Microseconds that a hook may add to a create. */
const mostAdded = 160;
const mostTrips = 2;
const leastShare = { create: 0.7, unconcerned: 0.95, route: 0.5 };

interface Parts {
  stage: Stage;
  generator: Generator;
  pace: Pace;
}

/** Creates with and without a hook, creates that no hook is about, and a custom route. `bareTrip` in microseconds. */
export async function measureRequests(stage: Stage, pace: Pace, bareTrip: number): Promise<Figure[]> {
  const generator = startGenerator();
  try {
    const parts = { stage, generator, pace };
    const plain = await appOf(stage, 'plain');
    const processes = countDescendants(stage.server.pid, runnerProgram);
    const hooked = await appOf(stage, 'hooked');
    const app = hooked.path.slice(0, hooked.path.indexOf('/collections/'));
    await request(`${stage.server.url}${app}/collections`, {
      method: 'POST',
      token: hooked.token,
      body: { schema: { id: 'others', kind: 'base', fields } },
    });
    await request(`${stage.server.url}${app}/hooks/hooks.ts`, {
      method: 'PUT',
      token: hooked.token,
      body: { source },
    });
    const others = { ...hooked, path: hooked.path.replace('/items/', '/others/') };
    return [
      ...await latency(parts, { hooked, plain, bareTrip }),
      ...await rates(parts, { hooked, plain, others }),
      ...await route(parts, `${app}/custom/hello`),
      count('processes of an app without hooks', processes, 0),
    ];
  } finally {
    await generator.stop();
  }
}

interface Place {
  path: string;
  token: string;
}

async function appOf(stage: Stage, id: string): Promise<Place> {
  const workspace = await makeWorkspace(stage, id);
  const token = await makeAppAdmin(stage, workspace);
  return { token, path: `${workspace}/apps/shop/collections/items/records` };
}

async function latency(
  parts: Parts,
  { hooked, plain, bareTrip }: { hooked: Place; plain: Place; bareTrip: number },
): Promise<Figure[]> {
  const alone = { ...parts, pace: { ...parts.pace, connections: 1 } };
  const { ours, yardstick } = await creates(alone, hooked, plain);
  const added = spread(
    ours.rounds.map(({ p50 }, index) => (p50 - (yardstick.rounds[index]?.p50 ?? Number.NaN)) * 1_000),
  );
  const trips = spread([added.median / bareTrip]);
  return [
    { name: 'create, one at a time, p50', unit: 'ms', ours: ours.p50, baseline: yardstick.p50 },
    {
      name: '  added by a hook',
      unit: 'µs',
      ours: added,
      goal: { text: `p50 at most ${mostAdded} µs`, reached: added.median <= mostAdded },
    },
    { name: '  bare round trip to the same Deno', unit: 'µs', ours: spread([bareTrip]) },
    {
      name: '  added, in bare round trips',
      unit: '',
      ours: trips,
      goal: { text: `at most ${mostTrips}`, reached: trips.median <= mostTrips },
    },
  ];
}

async function rates(
  parts: Parts,
  { hooked, plain, others }: { hooked: Place; plain: Place; others: Place },
): Promise<Figure[]> {
  const withHook = await creates(parts, hooked, plain);
  const unconcerned = await creates(parts, others, plain);
  return [
    ...share('creates/s with a hook, beside without', withHook, leastShare.create),
    ...share('creates/s that no hook is about, beside without', unconcerned, leastShare.unconcerned),
  ];
}

function creates({ stage, generator, pace }: Parts, ours: Place, other: Place): Promise<Comparison> {
  const side = (name: string, { path, token }: Place): Side => ({
    name,
    pids: () => [stage.server.apiPid, stage.server.pid],
    plan: {
      port: stage.server.port,
      requests: [renderRequest({ method: 'POST', path, token, body: sample })],
    },
  });
  return compare(generator, { ours: side('with', ours), yardstick: side('without', other) }, pace);
}

async function route({ stage, generator, pace }: Parts, path: string): Promise<Figure[]> {
  const yardstick = await startYardstick(null);
  try {
    const { apiPid, pid, port } = stage.server;
    const ours = {
      name: 'custom route',
      pids: () => [apiPid, pid],
      plan: { port, requests: [renderRequest({ method: 'GET', path })] },
    };
    if (pace.profile) {
      await profile(apiPid, resultFile('hooks.cpuprofile'), () => measure(generator, ours, pace));
    }
    const comparison = await compare(generator, {
      ours,
      yardstick: {
        name: 'bare h3',
        pids: () => [yardstick.pid],
        plan: { port: yardstick.port, requests: [renderRequest({ method: 'GET', path: '/hello' })] },
      },
    }, pace);
    return share('custom route, requests/s, beside bare h3', comparison, leastShare.route);
  } finally {
    await yardstick.stop();
  }
}

function share(name: string, { ours, yardstick, ratio, cpuRatio }: Comparison, least: number): Figure[] {
  return [
    {
      name,
      unit: '',
      ours: ours.requestsPerSecond,
      baseline: yardstick.requestsPerSecond,
      ratio,
      goal: { text: `at least ${least} of it`, reached: ratio.median >= least },
    },
    {
      name: '  CPU of the server a request',
      unit: 'µs',
      ours: ours.cpu,
      baseline: yardstick.cpu,
      ratio: cpuRatio,
    },
  ];
}

function count(name: string, value: number, wanted: number): Figure {
  return { name, unit: '', ours: spread([value]), goal: { text: String(wanted), reached: value === wanted } };
}
