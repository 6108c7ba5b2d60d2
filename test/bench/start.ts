// How long the server takes to answer: the very first time, and with workspaces to look after; and its memory at rest.
import { setTimeout as pause } from 'node:timers/promises';
import { request } from './client.ts';
import { untilRested } from './control.ts';
import { residentMebibytes } from './proc.ts';
import type { Figure, Findings } from './findings.ts';
import { type BenchServer, startServer, withDataDir } from './server.ts';
import { makeWorkspace, masterLogin, setUp } from './stage.ts';
import { spread } from './statistics.ts';

/** How many starts of each sort, and the larger of the two fleets. */
export interface StartPace {
  starts: number;
  fleet: number;
}

/** Garbage of the start is collected by then. */
const settleMilliseconds = 5_000;

/** First starts, later starts with one workspace and with a fleet, memory when nothing happens. */
export async function benchStart({ starts, fleet }: StartPace): Promise<Findings> {
  const first: number[] = [];
  for (let index = 0; index < starts; index++) {
    first.push(await withDataDir(async (dataDir) => await stopped(await startServer(dataDir))));
  }
  return await withDataDir(async (dataDir) => {
    await prepare(dataDir, 0, 1);
    const one = await restart(dataDir, starts);
    const resident = await restingMemory(dataDir);
    await prepare(dataDir, 1, fleet);
    const many = await restart(dataDir, starts);
    const residentMany = await restingMemory(dataDir);
    return {
      bench: 'start',
      title: 'from the command to the first response, and resident memory of supervisor and API at rest',
      figures: [
        figure('first start', first, { unit: 'ms', most: 10_000 }),
        figure('with 1 workspace', one, { unit: 'ms', most: 1_500 }),
        figure(`with ${fleet} workspaces`, many, { unit: 'ms', most: 3_000 }),
        figure('memory, 1 workspace', [resident], { unit: 'MiB', most: 180 }),
        figure(`memory, ${fleet} workspaces`, [residentMany], { unit: 'MiB', most: 180 }),
      ],
      raw: { first, one, many },
    };
  });
}

function figure(
  name: string,
  values: readonly number[],
  { unit, most }: { unit: string; most: number },
): Figure {
  const ours = spread(values);
  return { name, unit, ours, goal: { text: `at most ${most} ${unit}`, reached: ours.median <= most } };
}

async function stopped(server: BenchServer): Promise<number> {
  await server.stop();
  return server.startedIn;
}

async function restart(dataDir: string, starts: number): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < starts; index++) times.push(await stopped(await startServer(dataDir)));
  return times;
}

async function restingMemory(dataDir: string): Promise<number> {
  const server = await startServer(dataDir);
  await pause(settleMilliseconds);
  const resident = residentMebibytes(server.pid) + residentMebibytes(server.apiPid);
  await server.stop();
  return resident;
}

/** Makes the workspaces from one number to the next; the first of all with an app and a collection. */
async function prepare(dataDir: string, from: number, to: number): Promise<void> {
  const server = await startServer(dataDir);
  if (from === 0) await setUp(server);
  const master = await masterLogin(server);
  for (let index = from; index < to; index++) {
    if (index === 0) await makeWorkspace({ server, master }, 'w0');
    else {await request(`${server.url}/api/workspaces`, {
        method: 'POST',
        token: master,
        body: { id: `w${index}`, name: 'W' },
      });}
  }
  await untilRested(dataDir);
  await server.stop();
}
