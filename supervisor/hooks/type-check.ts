// Type checks of apps' hook files: `deno check` behind the walls of a runner, one at a time, the newest state of an app's files.
import { chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeCheckFolder, removeLeftChecks } from './check-folders.ts';
import { CheckQueue, type Turn } from './check-queue.ts';
import type { CheckResult, RunnerReport, RunnerRequest } from '../protocol.ts';
import { checkCommand, type RunnerPlan } from './runner-command.ts';
import type { Walls } from './sandbox.ts';
import { spawn } from '../spawn.ts';

type Request = Extract<RunnerRequest, { type: 'runner_check' }>;

/** The dependencies of checks. A slot is a user that nothing else runs as meanwhile. */
export interface TypeChecksOptions {
  dataDir: string;
  walls: Promise<Walls>;
  takeSlot: (plan: RunnerPlan) => number;
  freeSlot: (slot: number) => void;
  now: () => number;
  /** Told of checks that could not be made, whatever is in the files. */
  onFailure: (failure: FailedCheck) => void;
}

/** A check that could not be made. */
export interface FailedCheck {
  workspace: string;
  app: string;
  error: string;
}

interface CheckRequest {
  request: Request;
  tell: (report: RunnerReport) => void;
}

const superseded: CheckResult = { unchecked: 'superseded' };
const late: CheckResult = { unchecked: 'late' };
/** Why a check is ended. */
const otherWorkspace = 'the turn of another workspace';
/**
 * The libraries of the checker: no more than hooks have. Deno's default would add its own names, those of
 * windows and those of Node, and takes more than twice the time.
 */
const checkedLibraries = ['esnext', 'deno.console', 'deno.crypto', 'deno.fetch', 'deno.url', 'deno.web'];
/** Characters of its output that are read. */
const maxOutputLength = 262_144;

/** The checks of all apps. */
export class TypeChecks {
  readonly #options: TypeChecksOptions;
  readonly #queue: CheckQueue<CheckRequest>;
  /** The plan, once nothing is left of an earlier server. */
  readonly #plan: Promise<RunnerPlan | undefined>;
  #current: { workspace: string; app: string; abort: AbortController } | undefined;
  #room: NodeJS.Timeout | undefined;

  constructor(options: TypeChecksOptions) {
    this.#options = options;
    this.#queue = new CheckQueue(options.now);
    this.#plan = options.walls.then(async ({ plan }) => {
      await removeLeftChecks(options.dataDir, plan?.users);
      return plan;
    });
    this.#plan.catch(() => 'awaited by each check');
  }

  /** Checks in its turn; an older check of the app is superseded. */
  check(asked: CheckRequest): void {
    const { workspace, app } = asked.request;
    const older = this.#queue.add({ workspace, app }, asked);
    if (older !== undefined) report(older, superseded);
    const current = this.#current;
    if (current === undefined) return void this.#work();
    if (current.workspace === workspace && current.app === app) current.abort.abort();
    this.#makeRoom();
  }

  /** Ends what is under way. */
  stop(): void {
    this.#queue.close();
    this.#current?.abort.abort();
  }

  async #work(): Promise<void> {
    for (let turn = this.#queue.take(); turn !== undefined; turn = this.#queue.take()) {
      const { item: asked, workspace, app } = turn;
      const abort = new AbortController();
      this.#current = { workspace, app, abort };
      this.#makeRoom();
      const result = await this.#check(turn, abort.signal).catch((error: unknown) =>
        this.#fail(asked.request, String(error), abort.signal)
      );
      clearTimeout(this.#room);
      if (abort.signal.reason === otherWorkspace && this.#queue.putBack()) continue;
      this.#queue.end();
      report(asked, abort.signal.aborted ? superseded : result);
    }
    this.#current = undefined;
  }

  /** Sees to it that what is under way ends when it is to make room for another workspace. */
  #makeRoom(): void {
    clearTimeout(this.#room);
    const milliseconds = this.#queue.makesRoomIn();
    if (milliseconds === 0) this.#current?.abort.abort(otherWorkspace);
    else if (milliseconds !== undefined) this.#room = setTimeout(() => this.#makeRoom(), milliseconds);
  }

  #fail({ workspace, app }: Request, error: string, { aborted }: AbortSignal): CheckResult {
    if (!aborted) this.#options.onFailure({ workspace, app, error });
    return { unchecked: 'failed' };
  }

  async #check({ item: { request }, left }: Turn<CheckRequest>, signal: AbortSignal): Promise<CheckResult> {
    if (left <= 0) return late;
    const plan = await this.#plan;
    // Without namespaces nothing would keep a file's imports from other files of the machine.
    if (plan?.level !== 'os') throw new Error('there are no namespaces to check types in');
    if (signal.aborted) return superseded;
    const slot = this.#options.takeSlot(plan);
    try {
      return await this.#checkAs(slot, plan, request, { signal, left });
    } finally {
      this.#options.freeSlot(slot);
    }
  }

  async #checkAs(
    slot: number,
    plan: RunnerPlan,
    { files, types }: Request,
    ends: Ends,
  ): Promise<CheckResult> {
    const folder = await makeCheckFolder(this.#options.dataDir);
    try {
      await lay(folder, { files, types });
      if (plan.users !== undefined) await chown(folder, plan.users.first + slot, 0);
      return await run(checkCommand(plan, { slot, folder, files: files.map(({ file }) => file) }), ends);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

/** Puts the files where the check finds them; only its user may enter. */
async function lay(folder: string, { files, types }: Pick<Request, 'files' | 'types'>): Promise<void> {
  for (const name of ['app', 'types']) {
    await mkdir(join(folder, name));
    await chmod(join(folder, name), 0o755);
  }
  const write = (name: string, text: string) => writeFile(join(folder, name), text, { mode: 0o644 });
  await write('types/hooks.d.ts', types);
  await write('types/deno.json', JSON.stringify({ compilerOptions: { lib: checkedLibraries, types: [] } }));
  for (const { file, source } of files) await write(`app/${file}`, source);
}

/** The ends of a check before it has a result: a signal, or that its milliseconds are over. */
interface Ends {
  signal: AbortSignal;
  left: number;
}

async function run(
  command: ReturnType<typeof checkCommand>,
  { signal, left }: Ends,
): Promise<CheckResult> {
  let output = '';
  let isLate = false;
  const running = spawn({
    ...command,
    onLine: (line) => {
      if (output.length < maxOutputLength) output += `${line}\n`;
    },
  });
  const kill = () => running.killGroup();
  const timer = setTimeout(() => {
    isLate = true;
    kill();
  }, left);
  signal.addEventListener('abort', kill, { once: true });
  const ended = await running.exited;
  await running.closed;
  clearTimeout(timer);
  signal.removeEventListener('abort', kill);
  if (ended.code === 0 || ended.code === 1) return { output };
  if (isLate) return late;
  throw new Error(`deno check ended with code ${ended.code}, signal ${ended.signal}`);
}

function report({ request: { id }, tell }: CheckRequest, result: CheckResult): void {
  tell({ type: 'runner_checked', id, ...result });
}
