// Whether the server tires: CPU time a request and memory over minutes of the same load, first against last.
import { renderRequest, startGenerator } from './load.ts';
import { residentMebibytes } from './proc.ts';
import type { Figure, Findings } from './findings.ts';
import { measure, type Side } from './rounds.ts';
import { type RecordStage, sample, withRecords } from './stage.ts';
import { spread } from './statistics.ts';

/** How long, and in which steps. */
export interface DriftPace {
  minutes: number;
  connections: number;
}

interface Sample {
  second: number;
  cpu: number;
  requestsPerSecond: number;
  /** Resident memory of API and supervisor, in MiB. */
  resident: number;
}

const warmUpSeconds = 10;
/** The first and the last of these parts are compared. */
const parts = 10;
const mostGrowth = 1.1;

/** Nine reads to one create on one collection, as fast as it goes. */
export async function benchDrift({ minutes, connections }: DriftPace): Promise<Findings> {
  return await withRecords(async (stage) => {
    const seconds = (minutes * 60) / parts;
    const samples = await watch(stage, { seconds: Math.min(seconds, 10), total: minutes * 60, connections });
    return {
      bench: 'drift',
      title: `nine reads to one create for ${minutes} min, as fast as it goes`,
      sides: ['last tenth', 'first tenth'],
      figures: figuresOf(
        samples.filter(({ second }) => second <= seconds),
        samples.filter(({ second }) => second > minutes * 60 - seconds),
      ),
      series: [
        { name: 'CPU a request', unit: 'µs', points: samples.map(({ second, cpu }) => [second, cpu]) },
        {
          name: 'resident memory',
          unit: 'MiB',
          points: samples.map(({ second, resident }) => [second, resident]),
        },
      ],
      raw: samples,
    };
  });
}

function figuresOf(first: readonly Sample[], last: readonly Sample[]): Figure[] {
  const compared = (name: string, unit: string, key: keyof Sample): Figure => {
    const of = (samples: readonly Sample[]) => spread(samples.map((sample) => sample[key]));
    const [ours, baseline] = [of(last), of(first)];
    return { name, unit, ours, baseline, ratio: spread([ours.median / baseline.median]) };
  };
  const flat = (figure: Figure): Figure => {
    const reached = figure.ratio !== undefined && figure.ratio.median <= mostGrowth;
    return { ...figure, goal: { text: `at most ${mostGrowth} times the first`, reached } };
  };
  return [
    flat(compared('CPU a request', 'µs', 'cpu')),
    flat(compared('resident memory', 'MiB', 'resident')),
    compared('requests/s', '', 'requestsPerSecond'),
  ];
}

async function watch(
  { server, path, token, ids }: RecordStage,
  { seconds, total, connections }: { seconds: number; total: number; connections: number },
): Promise<Sample[]> {
  const create = renderRequest({ method: 'POST', path, token, body: sample });
  const requests = ids.map((id, index) =>
    index % 10 === 0 ? create : renderRequest({ method: 'GET', path: `${path}/${id}`, token })
  );
  const side: Side = {
    name: 'ours',
    pids: () => [server.apiPid, server.pid],
    plan: { port: server.port, requests },
  };
  const generator = startGenerator();
  const samples: Sample[] = [];
  try {
    await measure(generator, side, { seconds: warmUpSeconds, connections });
    for (let second = seconds; second <= total; second += seconds) {
      const { cpu, requestsPerSecond } = await measure(generator, side, { seconds, connections });
      const resident = residentMebibytes(server.apiPid) + residentMebibytes(server.pid);
      samples.push({ second, cpu, requestsPerSecond, resident });
    }
  } finally {
    await generator.stop();
  }
  return samples;
}
