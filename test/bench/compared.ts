// The benches that compare a request of ours with the yardstick's: get, create, list, healthz.
import type { Figure, Findings } from './findings.ts';
import { type Generator, renderRequest, startGenerator } from './load.ts';
import { profile } from './profile.ts';
import { resultFile } from './report.ts';
import { compare, type Comparison, measure, type Pace, type Side } from './rounds.ts';
import { type RecordStage, sample, withRecords, withStage } from './stage.ts';
import { type Served, startYardstick, type YardstickTable } from './yardstick-process.ts';

/** Requests of both sides, and the share of the yardstick's requests a second that ours should reach. */
interface Matchup {
  title: string;
  ours: string[];
  yardstick: string[];
  goal: number | undefined;
}

/** Reading one record of 10,000. */
export async function benchGet(pace: Pace): Promise<Findings> {
  return await withRecords((stage) => {
    const { path, token, ids } = stage;
    return contest('get', stage, pace, {
      title: 'read one record of 10,000, against a bare h3 + postgres.js handler',
      ours: ids.map((id) => renderRequest({ method: 'GET', path: `${path}/${id}`, token })),
      yardstick: ids.map((id) => renderRequest({ method: 'GET', path: `/records/${id}` })),
      goal: 0.65,
    });
  });
}

/** Creating a record of five fields. */
export async function benchCreate(pace: Pace): Promise<Findings> {
  return await withRecords((stage) => {
    const { path, token } = stage;
    return contest('create', stage, pace, {
      title: 'create a record of five fields, against a bare h3 + postgres.js handler',
      ours: [renderRequest({ method: 'POST', path, token, body: sample })],
      yardstick: [renderRequest({ method: 'POST', path: '/records', body: sample })],
      goal: 0.65,
    });
  });
}

const pages = Array.from({ length: 30 }, (_unused, index) => index + 1);

/** Listing 30 records of 10,000 by an indexed field. */
export async function benchList(pace: Pace): Promise<Findings> {
  return await withRecords((stage) => {
    const { path, token } = stage;
    const query = 'per_page=30&sort=-due&skip_total=true';
    return contest('list', stage, pace, {
      title: 'list 30 of 10,000 records, sorted, without a total, against a bare h3 + postgres.js handler',
      ours: pages.map((page) =>
        renderRequest({ method: 'GET', path: `${path}?${query}&page=${page}`, token })
      ),
      yardstick: pages.map((page) => renderRequest({ method: 'GET', path: `/records?page=${page}` })),
      goal: undefined,
    });
  });
}

/** The health check, which touches nothing. */
export async function benchHealthz(pace: Pace): Promise<Findings> {
  return await withStage((stage) =>
    contest('healthz', stage, pace, {
      title: 'the health check, against a bare h3 hello',
      ours: [renderRequest({ method: 'GET', path: '/healthz' })],
      yardstick: [renderRequest({ method: 'GET', path: '/hello' })],
      goal: 0.8,
    })
  );
}

/** Measures both sides and, when asked to, profiles ours. */
export async function contest(
  bench: string,
  stage: Pick<RecordStage, 'server'> & { table?: YardstickTable },
  pace: Pace,
  matchup: Matchup,
): Promise<Findings> {
  const yardstick = await startYardstick(stage.table ?? null);
  const generator = startGenerator();
  try {
    const sides = sidesOf(stage.server, yardstick, matchup);
    const comparison = await compare(generator, sides, pace);
    if (pace.profile) {
      await profile(
        stage.server.apiPid,
        resultFile(`${bench}.cpuprofile`),
        () => measure(generator, sides.ours, pace),
      );
    }
    return {
      bench,
      title: matchup.title,
      figures: figuresOf(comparison, matchup.goal),
      raw: { pace, ours: comparison.ours.rounds, yardstick: comparison.yardstick.rounds },
    };
  } finally {
    await stopAll(generator, yardstick);
  }
}

/** The supervisor counts as part of the server: its CPU time is ours. */
function sidesOf(
  server: RecordStage['server'],
  yardstick: Served,
  matchup: Matchup,
): { ours: Side; yardstick: Side } {
  return {
    ours: {
      name: 'ours',
      pids: () => [server.apiPid, server.pid],
      plan: { port: server.port, requests: matchup.ours },
    },
    yardstick: {
      name: 'yardstick',
      pids: () => [yardstick.pid],
      plan: { port: yardstick.port, requests: matchup.yardstick },
    },
  };
}

async function stopAll(generator: Generator, yardstick: Served): Promise<void> {
  await generator.stop();
  await yardstick.stop();
}

/** The figures of a comparison; `goal` is the share of the other side's requests a second. */
export function figuresOf(
  { ours, yardstick, ratio, cpuRatio }: Comparison,
  goal: number | undefined,
): Figure[] {
  const plain = (name: string, unit: string, key: 'cpu' | 'p50' | 'p99'): Figure => ({
    name,
    unit,
    ours: ours[key],
    baseline: yardstick[key],
  });
  return [
    {
      name: 'requests/s',
      unit: '',
      ours: ours.requestsPerSecond,
      baseline: yardstick.requestsPerSecond,
      ratio,
      ...(goal === undefined
        ? {}
        : { goal: { text: `at least ${goal} of the yardstick`, reached: ratio.median >= goal } }),
    },
    { ...plain('CPU a request', 'µs', 'cpu'), ratio: cpuRatio },
    plain('p50', 'ms', 'p50'),
    plain('p99', 'ms', 'p99'),
  ];
}
