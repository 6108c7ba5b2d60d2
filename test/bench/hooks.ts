// What hooks cost: their processes, the requests that run them, and a fleet of apps that have some.
import type { Findings } from './findings.ts';
import { measureFleet, measureRest } from './hooks-fleet.ts';
import type { ProcessFigures } from './hooks-processes.ts';
import { measureRequests } from './hooks-requests.ts';
import { startLoadProcess } from './load-process.ts';
import type { Pace } from './rounds.ts';
import { type BenchServer, startServer, withDataDir } from './server.ts';
import { masterLogin, setUp } from './stage.ts';

const idleMilliseconds = 10_000;

/** Every figure of hooks, those that cost requests in short rounds: all of it takes less than four minutes. */
export async function benchHooks(pace: Pace): Promise<Findings> {
  const { figures: processes, bareTrip } = await measureProcesses();
  const short = {
    ...pace,
    rounds: Math.min(pace.rounds, 5),
    seconds: Math.min(pace.seconds, 2),
    warmUpSeconds: Math.min(pace.warmUpSeconds, 2),
  };
  return await withDataDir(async (dataDir) => {
    const served = await withServer(dataDir, [], async (server) => {
      await setUp(server);
      const stage = { server, master: await masterLogin(server) };
      return [...await measureRequests(stage, short, bareTrip), ...await measureFleet(stage)];
    });
    const rest = await withServer(
      dataDir,
      [`hooks.idle_ms=${idleMilliseconds}`],
      (server) => measureRest(server, idleMilliseconds),
    );
    return {
      bench: 'hooks',
      title: 'hook runners, requests that run hooks, and a hundred apps with hooks, at level deno',
      sides: ['ours', 'beside'],
      figures: [...processes, ...served, rest],
    };
  });
}

async function measureProcesses(): Promise<ProcessFigures> {
  const runners = startLoadProcess<object, ProcessFigures>('./hooks-processes.ts');
  try {
    return await runners.run({});
  } finally {
    await runners.stop();
  }
}

async function withServer<Result>(
  dataDir: string,
  settings: readonly string[],
  work: (server: BenchServer) => Promise<Result>,
): Promise<Result> {
  const server = await startServer(dataDir, ['hooks.sandbox=deno', ...settings]);
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}
