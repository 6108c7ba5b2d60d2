// Type checks of apps' hook files: `deno check` behind the walls of a runner, one at a time, the newest state of an app's files.
import { chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeCheckFolder, removeLeftChecks } from './check-folders.ts';
import type { CheckResult, RunnerReport, RunnerRequest } from '../protocol.ts';
import { checkCommand, type RunnerPlan } from './runner-command.ts';
import type { Walls } from './sandbox.ts';
import { spawn } from '../spawn.ts';

type Request = Extract<RunnerRequest, { type: 'runner_check' }>;

/** What checks depend on. A slot is a user that nothing else runs as meanwhile. */
export interface TypeChecksOptions {
  dataDir: string;
  walls: Promise<Walls>;
  takeSlot: (plan: RunnerPlan) => number;
  freeSlot: (slot: number) => void;
  /** Told of checks that could not be made, whatever is in the files. */
  onFailure: (failure: FailedCheck) => void;
}

/** A check that could not be made. */
export interface FailedCheck {
  workspace: string;
  app: string;
  error: string;
}

interface Asked {
  request: Request;
  tell: (report: RunnerReport) => void;
}

const superseded: CheckResult = { unchecked: 'superseded' };
/** A check that takes longer has no answer. Milliseconds. */
const deadline = 10_000;
/**
 * What the checker knows besides what it is given: no more than hooks have. Deno's default would add its own names, those of
 * windows and those of Node, and takes more than twice the time.
 */
const checkedLibraries = ['esnext', 'deno.console', 'deno.crypto', 'deno.fetch', 'deno.url', 'deno.web'];
/** Characters of its output that are read. */
const longestOutput = 262_144;

/** The checks of all apps. */
export class TypeChecks {
  readonly #options: TypeChecksOptions;
  readonly #waiting = new Map<string, Asked>();
  /** The plan, once nothing is left of an earlier server. */
  readonly #plan: Promise<RunnerPlan | undefined>;
  #current: { key: string; abort: AbortController } | undefined;

  constructor(options: TypeChecksOptions) {
    this.#options = options;
    this.#plan = options.walls.then(async ({ plan }) => {
      await removeLeftChecks(options.dataDir, plan?.users);
      return plan;
    });
    this.#plan.catch(() => 'awaited by each check');
  }

  /** Checks in its turn; an older check of the app is of no use any more, and answered so. */
  ask(asked: Asked): void {
    const { request: { workspace, app } } = asked;
    const key = `${workspace}/${app}`;
    const older = this.#waiting.get(key);
    if (older !== undefined) answer(older, superseded);
    this.#waiting.set(key, asked);
    if (this.#current?.key === key) this.#current.abort.abort();
    if (this.#current === undefined) void this.#work();
  }

  /** Ends what is under way. */
  stop(): void {
    this.#waiting.clear();
    this.#current?.abort.abort();
  }

  async #work(): Promise<void> {
    for (const [key, asked] of this.#waiting) {
      this.#waiting.delete(key);
      const abort = new AbortController();
      this.#current = { key, abort };
      const result = await this.#check(asked.request, abort.signal).catch((error: unknown) =>
        this.#fail(asked.request, String(error), abort.signal)
      );
      answer(asked, abort.signal.aborted ? superseded : result);
    }
    this.#current = undefined;
  }

  #fail({ workspace, app }: Request, error: string, { aborted }: AbortSignal): CheckResult {
    if (!aborted) this.#options.onFailure({ workspace, app, error });
    return { unchecked: 'failed' };
  }

  async #check(request: Request, signal: AbortSignal): Promise<CheckResult> {
    const plan = await this.#plan;
    // Without namespaces nothing would keep a file's imports from other files of the machine.
    if (plan?.level !== 'os') throw new Error('there are no namespaces to check types in');
    if (signal.aborted) return superseded;
    const slot = this.#options.takeSlot(plan);
    try {
      return await this.#checkAs(slot, plan, request, signal);
    } finally {
      this.#options.freeSlot(slot);
    }
  }

  async #checkAs(
    slot: number,
    plan: RunnerPlan,
    { files, types }: Request,
    signal: AbortSignal,
  ): Promise<CheckResult> {
    const folder = await makeCheckFolder(this.#options.dataDir);
    try {
      await lay(folder, { files, types });
      if (plan.users !== undefined) await chown(folder, plan.users.first + slot, 0);
      return await run(checkCommand(plan, { slot, folder, files: files.map(({ file }) => file) }), signal);
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

async function run(command: ReturnType<typeof checkCommand>, signal: AbortSignal): Promise<CheckResult> {
  let output = '';
  let isLate = false;
  const running = spawn({
    ...command,
    onLine: (line) => {
      if (output.length < longestOutput) output += `${line}\n`;
    },
  });
  const kill = () => running.killGroup();
  const late = setTimeout(() => {
    isLate = true;
    kill();
  }, deadline);
  signal.addEventListener('abort', kill, { once: true });
  const ended = await running.exited;
  await running.closed;
  clearTimeout(late);
  signal.removeEventListener('abort', kill);
  if (ended.code === 0 || ended.code === 1) return { output };
  if (isLate) return { unchecked: 'late' };
  throw new Error(`deno check ended with code ${ended.code}, signal ${ended.signal}`);
}

function answer({ request: { id }, tell }: Asked, result: CheckResult): void {
  tell({ type: 'runner_checked', id, ...result });
}
