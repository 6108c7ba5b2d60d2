// A desk of the runners, with what an API process would hear, for tests without one.
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { chmod, mkdtemp } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import type { RunnerReport, SandboxLevel } from '../../../supervisor/protocol.ts';
import type { RunnerPlan } from '../../../supervisor/hooks/runner-command.ts';
import { type RunnerClient, RunnerProcesses } from '../../../supervisor/hooks/runners.ts';
import type { Output } from '../../../supervisor/output.ts';
import type { ControlGroups } from '../../../supervisor/hooks/shares/control-groups.ts';
import { HookShares } from '../../../supervisor/hooks/shares/shares.ts';
import { raiseWalls } from '../../../supervisor/hooks/sandbox.ts';
import type { FailedCheck } from '../../../supervisor/hooks/type-check.ts';
import type { Program } from './runner-programs.ts';

type Exited = Extract<RunnerReport, { type: 'runner_exited' }>;
type ApiResponse = Extract<RunnerReport, { id: string }>;
type Measured = Extract<RunnerReport, { type: 'runner_measured' }>;

/** Settings of the tests' runners. */
const config = {
  dir: '',
  timeout_ms: 5000,
  memory_mb: 256,
  idle_ms: 1000,
  max_runners: 10,
  total_memory_mb: 0,
  sandbox: 'auto',
  jit: false,
  type_check: false,
} as const;

/** A new folder that every user may pass, for what runners need; its owner removes it. */
export async function makeRunnerHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'bulkhead-runtime-'));
  await chmod(home, 0o711);
  return home;
}

/**
 * How runners are started at a level, with other programs than the runner's own. What that takes is made in a new folder of
 * `home`, and so are the users: no two plans have the same. Throws where it does not work.
 */
export async function planAt(level: SandboxLevel, home: string, code = ''): Promise<RunnerPlan> {
  const folder = await mkdtemp(join(home, `${level}-`));
  await chmod(folder, 0o711);
  const { plan, sandbox } = await raiseWalls({
    config: { ...config, sandbox: level },
    folder,
    uid: process.getuid?.() ?? 0,
    path: '/usr/bin:/bin',
    platform: process.platform,
    arch: process.arch,
  });
  if (plan === undefined) throw new Error(sandbox.why);
  return { ...plan, code };
}

/** What a test holds. */
export interface TestRunners {
  runners: RunnerProcesses;
  desk: RunnerClient;
  reports: RunnerReport[];
  /** Starts one and answers its socket; throws when it is refused. */
  start: (app?: string, workspace?: string) => Promise<{ id: string; pid: number; socket: Socket }>;
  /** Resolves when just this came over the channel. */
  heard: (id: string, text: string) => Promise<void>;
  endOf: (id: string) => Promise<Exited>;
  kill: (id: string) => Promise<Exited>;
  measure: (id: string) => Promise<Measured>;
  rested: string[];
  /** Checks of types that could not be made. */
  unchecked: FailedCheck[];
}

/** What a runner has written to its standard output and error. */
export function printedBy({ reports }: Pick<TestRunners, 'reports'>, id: string): string {
  return reports.map((report) => report.type === 'runner_output' && report.id === id ? report.text : '').join(
    '',
  );
}

/** What was reported so far, and a way to wait for more. */
function createInbox() {
  const reports: RunnerReport[] = [];
  const bus = new EventEmitter();
  return {
    reports,
    put: (report: RunnerReport) => {
      reports.push(report);
      bus.emit('report');
    },
    until: async <Found extends RunnerReport>(
      is: (report: RunnerReport) => report is Found,
    ): Promise<Found> => {
      for (;;) {
        const found = reports.find(is);
        if (found !== undefined) return found;
        await once(bus, 'report');
      }
    },
  };
}

/** Asks for a runner, with a share that no test spends. */
export function startRequest(id: string, app = 'shop', workspace = 'acme') {
  const share = { cpu_cores: 1, cpu_burst_ms: 10_000, memory_mb: 1_024 };
  return { type: 'runner_start', id, workspace, app, memory_mb: 256, share } as const;
}

/** Shares of runners that are started by it, kept in control groups if there are any; `say` is called with what is logged. */
export function ownShares(groups?: ControlGroups, say: Output['log'] = () => {}): HookShares {
  return new HookShares({ now: () => performance.now(), totalMemoryMb: 0, groups, say });
}

/** What a desk depends on; `now` is a clock that a test may move. */
export interface DeskOptions {
  plan: RunnerPlan;
  program: Program;
  most?: number;
  now?: () => number;
  shares?: HookShares;
}

/** Opens one. */
export function openDesk(
  { plan, program, most = 10, now = () => performance.now(), shares = ownShares() }: DeskOptions,
): TestRunners {
  const { reports, put, until } = createInbox();
  const rested: string[] = [];
  const unchecked: FailedCheck[] = [];
  const sockets = new Map<string, Socket>();
  const heard = new Map<string, string>();
  const runners = new RunnerProcesses({
    config: { ...config, max_runners: most },
    ...{ now, program: `${program}.ts`, dataDir: '/nonexistent', shares },
    walls: Promise.resolve({ sandbox: { level: plan.level, shares: 'supervisor', why: '' }, plan }),
    onBreakerOpen: ({ app }) => rested.push(app),
    onUnchecked: (failure) => unchecked.push(failure),
  });
  const desk = runners.connect((report, socket) => {
    if (report.type === 'runner_started' && socket !== undefined) {
      sockets.set(report.id, socket);
      socket.on('data', (chunk: Buffer) => heard.set(report.id, (heard.get(report.id) ?? '') + chunk));
    }
    put(report);
  });
  const endOf = (id: string) =>
    until((report): report is Exited => report.type === 'runner_exited' && report.id === id);
  const kill = (id: string) => {
    desk.handle({ type: 'runner_stop', id, kill: true });
    return endOf(id);
  };
  const start = async (app = 'shop', workspace = 'acme') => {
    const id = randomUUID();
    desk.handle(startRequest(id, app, workspace));
    const report = await until((found): found is ApiResponse => 'id' in found && found.id === id);
    const socket = sockets.get(id);
    if (report.type !== 'runner_started' || socket === undefined) throw new Error(JSON.stringify(report));
    return { id, pid: report.pid, socket };
  };
  return {
    ...{ runners, desk, reports, rested, unchecked, start, endOf, kill },
    heard: (id, text) => vi.waitFor(() => expect(heard.get(id)).toBe(text), { timeout: 10_000, interval: 2 }),
    measure: async (id) => {
      const before = reports.length;
      desk.handle({ type: 'runner_measure', id });
      return await until((report): report is Measured =>
        report.type === 'runner_measured' && report.id === id && reports.indexOf(report) >= before
      );
    },
  };
}
