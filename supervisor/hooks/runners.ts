// The hook runners of all API processes: started on request, bounded in number, left down when they keep crashing.
import { messageOf } from '../errors.ts';
import { CrashHistory } from './crash-history.ts';
import type { Config, RunnerRefusal, RunnerRequest } from '../protocol.ts';
import type { HookShares } from './shares/shares.ts';
import type { RunnerPlan } from './runner-command.ts';
import { RunnerProcess, type SendReport } from './runner-process.ts';
import type { Walls } from './sandbox.ts';
import { type FailedCheck, TypeChecks } from './type-check.ts';

/** The runners of one API process. */
export interface RunnerClient {
  handle: (request: RunnerRequest) => void;
  /** The process is gone: so are its runners. */
  close: () => void;
}

/** The dependencies of the runners. `now` in milliseconds, of any origin. */
export interface RunnerProcessesOptions {
  config: Config['hooks'];
  dataDir: string;
  walls: Promise<Walls>;
  now: () => number;
  /** Which program of the runner's code folder runs. */
  program: string;
  shares: HookShares;
  onBreakerOpen: (app: { workspace: string; app: string }) => void;
  onUnchecked: (failure: FailedCheck) => void;
}

/** The pause before a failure is tried again that only a change of the machine mends. Milliseconds. */
const longRetryMs = 60_000;
const shortRetryMs = 1000;

interface StartRequest {
  request: Extract<RunnerRequest, { type: 'runner_start' }>;
  tell: SendReport;
  desk: Map<string, RunnerProcess>;
  crashes: CrashHistory;
  gone: AbortSignal;
}

/** All of them. */
export class RunnerProcesses {
  readonly #options: RunnerProcessesOptions;
  /** By API process: each of them tries the same code, and finds out for itself what is wrong with it. */
  readonly #crashes = new Set<CrashHistory>();
  /** The output of apps, over the runners of all processes. */
  readonly #written: CrashHistory;
  readonly #living = new Set<RunnerProcess>();
  readonly #slots = new Set<number>();
  readonly #checks: TypeChecks;
  #lastSlot = -1;
  #stopped = false;

  constructor(options: RunnerProcessesOptions) {
    this.#options = options;
    this.#written = new CrashHistory(options.now);
    this.#checks = new TypeChecks({
      dataDir: options.dataDir,
      walls: options.walls,
      takeSlot: (plan) => this.#takeSlot(plan),
      freeSlot: (slot) => void this.#slots.delete(slot),
      now: options.now,
      onFailure: options.onUnchecked,
    });
  }

  /** For an API process that has just started. */
  connect(tell: SendReport): RunnerClient {
    const desk = new Map<string, RunnerProcess>();
    const gone = new AbortController();
    const { shares, now } = this.#options;
    const crashes = new CrashHistory(now);
    this.#crashes.add(crashes);
    return {
      handle: (request) => {
        switch (request.type) {
          case 'runner_start':
            return void this.#start({ request, tell, desk, crashes, gone: gone.signal });
          case 'runner_ready':
            return void desk.get(request.id)?.lower();
          case 'runner_stop':
            return desk.get(request.id)?.end({ kill: request.kill, fault: request.fault === true });
          case 'runner_measure':
            return void desk.get(request.id)?.measureNow();
          case 'runner_clear_crashes':
            return this.clearCrashes(request);
          case 'runner_check':
            return this.#checks.check({ request, tell });
          case 'runner_share':
            return shares.set(request.workspace, request.share);
          case 'runner_workspace_active':
            return shares.noteActive(request.workspace);
          case 'runner_sum': {
            const { id, workspace, app } = request;
            return tell({ type: 'runner_summed', id, memory_bytes: shares.usageOf(workspace, app).own });
          }
        }
      },
      close: () => {
        gone.abort();
        this.#crashes.delete(crashes);
        for (const runner of desk.values()) runner.end({ kill: true, fault: false });
      },
    };
  }

  /** Forgets the crashes of an app whose code is another now. */
  clearCrashes(app: { workspace: string; app: string }): void {
    for (const crashes of this.#crashes) crashes.clear(app);
  }

  /** Kills all of them; resolves when none is left. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#checks.stop();
    for (const runner of this.#living) runner.end({ kill: true, fault: false });
    await Promise.all([...this.#living].map(({ ended }) => ended));
  }

  async #start({ request, tell, desk, crashes, gone }: StartRequest): Promise<void> {
    const { sandbox, plan } = await this.#options.walls;
    if (gone.aborted || this.#stopped) return;
    const { id, memory_mb: memory } = request;
    const refuse = (reason: RunnerRefusal, retry_ms: number, message: string) =>
      tell({ type: 'runner_refused', id, reason, retry_ms, message });
    if (plan === undefined) return refuse('no_sandbox', longRetryMs, sandbox.why);
    const rest = crashes.openMs(request);
    if (rest > 0) {
      return refuse(
        'breaker_open',
        rest,
        `the app's hooks crashed too often, and rest for ${Math.ceil(rest / 1000)} s`,
      );
    }
    const most = Math.min(this.#options.config.max_runners, (plan.users?.count ?? Infinity) - 1);
    if (this.#living.size >= most) return refuse('full', shortRetryMs, `there are ${most} runners already`);
    let slot = -1;
    try {
      slot = this.#takeSlot(plan);
      const { now, program, shares } = this.#options;
      const group = shares.open(request.workspace, request.share);
      const seat = { program, slot, memory, group };
      const runner = new RunnerProcess({
        id,
        app: request.app,
        plan,
        seat,
        now,
        budget: this.#written.budgetOf(request),
        takeKill: () => shares.takeKill(request.workspace, request.app),
        tell,
      });
      this.#living.add(runner);
      desk.set(id, runner);
      shares.add(request.workspace, runner);
      void runner.ended.then((isCrash) => {
        this.#living.delete(runner);
        shares.remove(request.workspace, runner);
        this.#slots.delete(slot);
        desk.delete(id);
        if (isCrash && crashes.crashed(request)) this.#options.onBreakerOpen(request);
      });
    } catch (error) {
      this.#slots.delete(slot);
      refuse('cannot_start', shortRetryMs, messageOf(error));
    }
  }

  /**
   * The next free one after the last: what a runner's user leaves behind for an instant is not met by the next. There is
   * one more than runners may live, for the check of types that is under way.
   */
  #takeSlot({ users }: RunnerPlan): number {
    const count = users?.count ?? this.#options.config.max_runners + 1;
    if (this.#slots.size >= count) throw new RangeError(`all ${count} slots of runners are taken`);
    do this.#lastSlot = (this.#lastSlot + 1) % count; while (this.#slots.has(this.#lastSlot));
    this.#slots.add(this.#lastSlot);
    return this.#lastSlot;
  }
}
