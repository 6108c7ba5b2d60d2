// Hook runners by themselves, started as the supervisor starts them: how soon they are ready, and the least that a round trip
// to the same Deno takes. In a process of its own with the supervisor's memory, as how long a start takes depends on that.
import '../../supervisor/small-heap.ts';
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { SandboxLevel } from '../../supervisor/protocol.ts';
import { runnerCommand, type RunnerPlan } from '../../supervisor/hooks/runner-command.ts';
import { raiseWalls } from '../../supervisor/hooks/sandbox.ts';
import { type RunningProcess, spawn } from '../../supervisor/spawn.ts';
import type { Figure } from './findings.ts';
import { carryOut } from './load-process.ts';
import { withDataDir } from './server.ts';
import { sample } from './stage.ts';
import { percentile, spread } from './statistics.ts';

const memory = 256;
const starts = 21;
/** Milliseconds from the start of the process to its first message. */
const mostOf: Record<SandboxLevel, number> = { deno: 30, os: 60 };
const trips = 5_000;

/** A program that does with a line of JSON what a runner does with a frame, and nothing else. */
const answering = `
const { Pipe } = process.binding('pipe_wrap');
const { WriteWrap, streamBaseState } = process.binding('stream_wrap');
const pipe = new Pipe(0);
const say = (value) => {
  const request = new WriteWrap();
  request.oncomplete = () => undefined;
  pipe.writeBuffer(request, new TextEncoder().encode(JSON.stringify(value) + '\\n'));
};
pipe.onread = (data) => {
  const { id } = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 0, streamBaseState[0])));
  say({ id, changes: { price: 1 } });
};
pipe.open(3);
pipe.readStart();
say('ready');
`;

/** What is known of processes. */
export interface ProcessFigures {
  /** Starts at each level that this machine has. */
  figures: Figure[];
  /** The p50 of a bare round trip, in microseconds. */
  bareTrip: number;
}

async function measureProcesses(): Promise<ProcessFigures> {
  return await withDataDir(async (folder) => {
    const plans = new Map<SandboxLevel, RunnerPlan>();
    for (const level of ['deno', 'os'] as const) {
      const plan = await planOf(level, join(folder, level));
      if (plan !== undefined) plans.set(level, plan);
    }
    const figures = await measureStarts(plans);
    const plan = plans.get('deno');
    if (plan === undefined) throw new Error('no runner starts at level deno');
    const bareTrip = await measureTrip({ ...plan, code: await bareCode(folder) });
    return { figures, bareTrip };
  });
}

async function planOf(level: SandboxLevel, folder: string): Promise<RunnerPlan | undefined> {
  const config = {
    ...{ dir: folder, timeout_ms: 5_000, memory_mb: memory, idle_ms: 300_000, max_runners: 200 },
    total_memory_mb: 0,
    ...{ sandbox: level, jit: false, type_check: false },
  };
  const { platform, arch, env, getuid } = process;
  const { plan } = await raiseWalls({
    config,
    folder,
    uid: getuid?.() ?? -1,
    path: env['PATH'] ?? '',
    platform,
    arch,
  });
  return plan;
}

/** Both levels in turn, so that whatever else the machine does meets both. */
async function measureStarts(plans: ReadonlyMap<SandboxLevel, RunnerPlan>): Promise<Figure[]> {
  const times = new Map([...plans.keys()].map((level) => [level, [] as number[]]));
  for (let index = 0; index < starts; index++) {
    for (const [level, plan] of plans) {
      const { running, took } = await start(plan, index);
      times.get(level)?.push(took);
      await end(running);
    }
  }
  return [...times].map(([level, values]): Figure => {
    const ours = spread(values);
    const most = mostOf[level];
    return {
      name: `start to ready, level ${level}`,
      unit: 'ms',
      ours,
      goal: { text: `p50 at most ${most} ms`, reached: ours.median <= most },
    };
  });
}

async function measureTrip(plan: RunnerPlan): Promise<number> {
  const { running, socket } = await start(plan, starts);
  try {
    const lines = createInterface({ input: socket });
    const times: number[] = [];
    for (let id = 0; id < trips; id++) {
      const sent = performance.now();
      const response = once(lines, 'line');
      socket.write(JSON.stringify({ id, record: sample }));
      await response;
      times.push((performance.now() - sent) * 1_000);
    }
    return percentile(times.slice(trips / 2), 0.5);
  } finally {
    await end(running);
  }
}

async function bareCode(folder: string): Promise<string> {
  const code = join(folder, 'bare');
  await mkdir(code, { recursive: true });
  await writeFile(join(code, 'main.js'), answering);
  for (const path of [folder, code]) await chmod(path, 0o755);
  return code;
}

async function start(
  plan: RunnerPlan,
  slot: number,
): Promise<{ running: RunningProcess; socket: Socket; took: number }> {
  const command = runnerCommand(plan, { program: 'main.js', slot, memory });
  const said: string[] = [];
  const started = performance.now();
  const running = spawn({ ...command, onLine: (line) => void said.push(line) });
  const { socket } = running;
  if (socket === undefined) throw new Error('a runner has no socket');
  const failed = running.exited.then(({ code, signal }) => {
    throw new Error(`a runner ended with ${signal ?? code}: ${said.join('\n')}`);
  });
  failed.catch(() => 'known by the race');
  await Promise.race([once(socket, 'data'), failed]);
  return { running, socket, took: performance.now() - started };
}

async function end(running: RunningProcess): Promise<void> {
  running.killGroup();
  await running.exited;
}

carryOut(measureProcesses);
