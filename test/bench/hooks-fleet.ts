// Many apps with hooks: how soon a new file is live, what their idle runners hold, and that they go.
import { setTimeout as pause } from 'node:timers/promises';
import { request } from './client.ts';
import type { Figure } from './findings.ts';
import { countDescendants, findDescendants, type Memory, memoryOf } from './proc.ts';
import { runnerProgram } from './hooks-requests.ts';
import type { BenchServer } from './server.ts';
import { makeWorkspace, masterLogin, type Stage } from './stage.ts';
import { percentile, spread } from './statistics.ts';

/** How many apps, and how many of their runners are started at once. */
const fleet = 100;
const atOnce = 4;
/** MiB; the last is of all of them. */
const most = { resident: 40, private: 12, proportional: 1.3 * 1_024 };
const mostLive = 150;
/** Garbage of the start is collected by then, as far as it will be. */
const settleMilliseconds = 2_000;
/** The server looks for idle runners every 5 s. */
const sweepMs = 5_000;

const source = `
onRecordBeforeCreate('items', (e: { record: { fields: { price: number } } }) => { e.record.fields.price = 1; });
`;

/** Saves the first file of each app, then looks at their runners. */
export async function measureFleet(stage: Stage): Promise<Figure[]> {
  const { server, master: token } = stage;
  const before = new Set(findDescendants(server.pid, runnerProgram));
  const workspace = await makeWorkspace(stage, 'fleet');
  const times: number[] = [];
  for (let index = 0; index < fleet; index++) {
    const app = `${server.url}${workspace}/apps/app-${index}`;
    await request(`${server.url}${workspace}/apps`, {
      method: 'POST',
      token,
      body: { id: `app-${index}`, name: 'App' },
    });
    const started = performance.now();
    // It is answered when the file is live, or when it is known not to be.
    const { reload } = await request(`${app}/hooks/hooks.ts`, { method: 'PUT', token, body: { source } });
    times.push(performance.now() - started);
    if (!JSON.stringify(reload).includes('"errors":[]')) throw new Error('a file that was saved is not live');
  }
  await pause(settleMilliseconds);
  const memories = findDescendants(server.pid, runnerProgram).filter((pid) => !before.has(pid)).map(memoryOf);
  return [...liveness(times), ...memory(memories)];
}

function liveness(times: readonly number[]): Figure[] {
  const p95 = percentile(times, 0.95);
  return [
    { name: 'PUT of a hook file until it is live', unit: 'ms', ours: spread(times) },
    {
      name: '  p95',
      unit: 'ms',
      ours: spread([p95]),
      goal: { text: `at most ${mostLive} ms at level deno`, reached: p95 <= mostLive },
    },
  ];
}

function memory(memories: readonly Memory[]): Figure[] {
  const of = (key: keyof Memory) => memories.map((one) => one[key]);
  const each = (name: string, key: 'resident' | 'private'): Figure => {
    const ours = spread(of(key));
    const goal = { text: `at most ${most[key]} MiB`, reached: ours.median <= most[key] };
    return { name, unit: 'MiB', ours, goal };
  };
  const all = of('proportional').reduce((sum, one) => sum + one, 0);
  return [
    each('idle runner, resident', 'resident'),
    each('idle runner, private', 'private'),
    {
      name: `${memories.length} idle runners together (PSS)`,
      unit: 'MiB',
      ours: spread([all]),
      goal: {
        text: `${fleet} of them at most ${most.proportional} MiB`,
        reached: memories.length === fleet && all <= most.proportional,
      },
    },
  ];
}

/** How long runners stay once nothing is asked of them, on a server with that `hooks.idle_ms`. */
export async function measureRest(server: BenchServer, idleMilliseconds: number): Promise<Figure> {
  const token = await masterLogin(server);
  let next = 0;
  const wake = async () => {
    for (let index = next++; index < fleet; index = next++) {
      await request(`${server.url}/api/workspaces/fleet/apps/app-${index}/hooks/reload`, {
        method: 'POST',
        token,
      });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, wake));
  const woken = countDescendants(server.pid, runnerProgram);
  const started = performance.now();
  const longest = idleMilliseconds + sweepMs * 2;
  while (countDescendants(server.pid, runnerProgram) > 0 && performance.now() - started < longest) {
    await pause(100);
  }
  const left = countDescendants(server.pid, runnerProgram);
  return {
    name: `runners left after ${idleMilliseconds} ms of rest, of ${woken}`,
    unit: '',
    ours: spread([left]),
    goal: { text: 'none', reached: left === 0 && woken > 0 },
  };
}
