// The hooks of one app: what its files ask for, the runner that they are loaded in, and how both follow the files.
import type { CallFrame, LoadFrame, ToRunner } from '../../hook-runner/protocol.ts';
import type { AppIdentity } from '../../storage/definition.ts';
import type { FairQueue } from '../../storage/concurrency/fair-queue.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { logFailure } from '../logging/events.ts';
import { type CodeSnapshot, readCodeSnapshot } from './files/code-snapshot.ts';
import type { Counters } from './pool/counters.ts';
import type { SharedSlots } from './pool/slots.ts';
import { loadFaults, retryDelayMs, toFileFault, toRefusal } from './files/faults.ts';
import { type CallContext, Generation, type ReadyRunner, type RunRequest } from './pool/generation.ts';
import type { SupervisedRunners } from './pool/host.ts';
import { planRunner } from './pool/workspace-share.ts';
import type { ChannelEnd } from './rpc/invocation.ts';
import { DrainingGenerations } from './pool/draining.ts';
import { type LoadCause, LoadQueue } from './pool/load-queue.ts';
import { HookLog } from './logs/log.ts';
import type { FileFault, LoadResult } from './ports.ts';
import { Registrations } from './registrations.ts';
import { RunLimit, type RunLimitDeps } from './pool/run-limit.ts';
import { retryWhileFull } from './pool/start-retry.ts';
import { Quarantine } from './pool/quarantine.ts';
import { AppSlots } from './pool/slots.ts';

/** The dependencies that the hooks of all apps share. */
export interface AppHooksOptions {
  deps: RunLimitDeps & Pick<Deps, 'config' | 'databases' | 'secrets' | 'activity' | 'now' | 'observe'>;
  host: SupervisedRunners;
  slots: SharedSlots;
  /** Of processes; loading code is no part of it. */
  starts: FairQueue;
  /** Does what hook code of an app asks for. Throws `ApiError`. */
  handleCall: (app: AppIdentity, call: CallFrame, context: CallContext) => Promise<unknown>;
  /** Called before a runner of an app of this workspace is started: another may have to go. */
  evict: (workspace: string) => void;
  /** Hears that other registrations may be in effect, and again every few seconds; a load waits for it. Never throws. */
  onLoaded: (hooks: AppHooks) => Promise<void>;
}

const noRegistrations = new Registrations([]);
const retryMs = 2_000;

/** The hooks of one app in this process. */
export class AppHooks {
  readonly app: AppIdentity;
  /** The same as URLs name it. */
  readonly path: { readonly workspace: string; readonly app: string };
  readonly log: HookLog;
  readonly slots: AppSlots;
  readonly counters: Counters = { runs: 0, errors: 0, lastKill: null, lastKillAt: null };
  readonly #options: AppHooksOptions;
  readonly #limit: RunLimit;
  readonly #quarantine = new Quarantine();
  readonly #draining = new DrainingGenerations();
  #registrations: Registrations | undefined;
  #live: Generation | undefined;
  #fingerprint = '';
  #faults: FileFault[] = [];
  #failed: { error: ApiError; until: number; retryMs: number | undefined } | undefined;
  readonly #loads = new LoadQueue((cause) => this.#load(cause));
  /** State of the code that was loaded last, whatever came of it. */
  #triedFingerprint = '';
  #generations = 0;
  #isDropped = false;

  constructor({ workspace, id, schema }: AppIdentity, parts: AppHooksOptions) {
    this.app = { workspace, id, schema };
    this.path = { workspace: workspace.id, app: id };
    this.#options = parts;
    this.#limit = new RunLimit(parts.deps, this.path);
    this.slots = new AppSlots(parts.slots, workspace.id, this.#limit);
    this.log = new HookLog(parts.deps.now);
  }

  /** The registrations; undefined while they are not known. */
  get registrations(): Registrations | undefined {
    return this.#registrations;
  }

  /** Milliseconds after which to load files again that are not in effect, for no fault of theirs. */
  get retryIn(): number | undefined {
    return this.#failed?.retryMs;
  }

  /** The runner that is there now. */
  get live(): Generation | undefined {
    return this.#live;
  }

  /** Returns the registrations. Throws `ApiError` when they cannot be read: no write may go on as if there were no hooks. */
  async loadRegistrations(): Promise<Registrations> {
    if (this.#registrations === undefined) await this.#startRunner();
    return this.#registrations ?? noRegistrations;
  }

  /** Loads the files as they are now; without `force` only when they are others than those in effect. */
  reload(force: boolean): Promise<LoadResult> {
    return this.#loads.ask(force ? 'asked' : 'changed');
  }

  /** Runs a handler, starting a runner where there is none. Throws `ApiError`. */
  async run({ requestId, depth, deadline = Infinity }: RunRequest, write: (id: number) => ToRunner) {
    const getReady = this.ready();
    const { generation, timeoutMs } = getReady instanceof Promise ? await getReady : getReady;
    const run = { requestId, depth, deadline: Math.min(performance.now() + timeoutMs, deadline) };
    this.countRun();
    try {
      const result = await generation.run(run, write);
      if (result.outcome === 'failed') this.counters.errors++;
      return result;
    } catch (error) {
      this.counters.errors++;
      throw error;
    }
  }

  /** Returns the needs of a run, at once where all of them are there. Throws `ApiError`. */
  ready(): ReadyRunner | Promise<ReadyRunner> {
    const timeoutMs = this.#limit.known?.timeoutMs;
    const generation = this.#live;
    const isSure = generation?.isOpen === true && generation.channel.responsiveness === undefined;
    return isSure && timeoutMs !== undefined ? { generation, timeoutMs } : this.#makeReady();
  }

  /** Counts a run that begins. */
  countRun(): void {
    this.counters.runs++;
    this.#options.deps.activity.hookRun(this.app);
  }

  /** Leaves what is in effect, which may not be what the files say any more: the next use loads them. */
  invalidate(): void {
    this.stopRunner();
    this.#registrations = undefined;
  }

  /** Stops the runner; registrations are remembered. */
  stopRunner(): void {
    if (this.#live !== undefined) this.#draining.add(this.#live);
    this.#live = undefined;
  }

  /** The app is gone. */
  drop(): void {
    this.#isDropped = true;
    this.stopRunner();
    this.#draining.close();
  }

  async #makeReady(): Promise<ReadyRunner> {
    const { timeoutMs } = await this.#limit.find();
    const before = this.#live;
    // One that is stuck in its code is not waited for: another takes its place while it is found out.
    const isStuck = await before?.channel.responsiveness === false;
    if (isStuck && this.#live === before) this.#live = undefined;
    if (this.#live?.isOpen !== true) await this.#startRunner();
    if (this.live?.isOpen === true) return { generation: this.live, timeoutMs };
    throw new ApiError('hook_error', 'the hook runner ended before the hook ran');
  }

  /** Loads for a runner that is needed now. */
  async #startRunner(): Promise<void> {
    const { underWay } = this.#loads;
    const isLately = this.#failed !== undefined && performance.now() < this.#failed.until;
    if (underWay === undefined && this.#failed !== undefined && isLately) throw this.#failed.error;
    await (underWay ?? this.#loads.ask('needed'));
    if (this.#failed !== undefined) throw this.#failed.error;
    // A load under way may have found the files as they were, and so started nothing.
    const isHere = this.#isDropped || this.#registrations?.files.length === 0 || this.#live?.isOpen === true;
    if (underWay !== undefined && !isHere) await this.#startRunner();
  }

  async #load(cause: LoadCause): Promise<LoadResult> {
    const { deps, onLoaded } = this.#options;
    const { cronMinSec } = await this.#limit.find();
    const snapshot = await readCodeSnapshot(deps, this.app, cronMinSec);
    const { files, readFaults, fingerprint } = snapshot;
    const isInEffect = fingerprint === this.#fingerprint && this.#registrations !== undefined;
    if (cause === 'changed' && isInEffect) {
      this.#failed = undefined;
      return this.#currentResult();
    }
    // Not before: until the load that is under way has ended, it goes by what it finds.
    if (cause === 'asked' || fingerprint !== this.#triedFingerprint) this.#quarantine.clear();
    this.#triedFingerprint = fingerprint;
    let faults = readFaults;
    try {
      const live = files.length === 0 ? undefined : await this.#open(snapshot);
      const faultsOfCode = live?.loaded.errors.map(toFileFault) ?? [];
      const faultsOfJobs = live?.registrations.jobPolicy?.faults ?? [];
      faults = [...readFaults, ...this.#quarantine.faults(files), ...faultsOfCode, ...faultsOfJobs];
      this.#replace(live, fingerprint);
    } catch (error) {
      const refusal = toRefusal(error);
      // Nobody knows what these files would have vetoed; only code that was in effect before them may go on.
      if (this.#registrations?.files.length === 0) this.#registrations = undefined;
      const until = performance.now() + retryMs;
      this.#failed = { error: refusal, until, retryMs: retryDelayMs(error) };
      faults = [...readFaults, ...loadFaults(error, refusal.message, files)];
    }
    this.#faults = faults;
    this.log.addFaults(faults, null);
    if (!this.#isDropped) await onLoaded(this);
    return this.#currentResult();
  }

  async #open({ files: all, env }: CodeSnapshot): Promise<Generation | undefined> {
    const { deps, host, starts, handleCall, evict } = this.#options;
    const load = async (files: LoadFrame['files']) =>
      Generation.open({
        host,
        starts,
        runner: await planRunner(deps, this.app),
        load: { ...this.path, generation: ++this.#generations, files, env },
        limits: await this.#limit.find(),
        handleCall: (call, context) => handleCall(this.app, call, context),
        onLog: (line, request_id) => this.log.add({ ...line, request_id }),
        onOutput: (message) => this.log.add({ level: 'info', message }),
        onEnd: (end, message) => this.#noteEnd(end, message),
        report: logFailure(deps, 'respond to a hook'),
      });
    const makeRoom = () => evict(this.path.workspace);
    return await this.#quarantine.open(all, (files) => retryWhileFull(makeRoom, () => load(files)));
  }

  #replace(live: Generation | undefined, fingerprint: string): void {
    this.stopRunner();
    this.#live = live;
    this.#registrations = live?.registrations ?? noRegistrations;
    this.#fingerprint = fingerprint;
    this.#failed = undefined;
    if (this.#isDropped) this.drop();
  }

  #noteEnd(end: ChannelEnd, message: string): void {
    if (end === 'closed') return;
    this.counters.lastKill = end;
    this.counters.lastKillAt = this.#options.deps.now().getTime();
    this.log.add({ level: 'error', message, fields: { reason: end } });
  }

  #currentResult(): LoadResult {
    return {
      loaded: (this.#registrations ?? noRegistrations).files.map(({ file }) => file),
      errors: [...this.#faults],
    };
  }
}
