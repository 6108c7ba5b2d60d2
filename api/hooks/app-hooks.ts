// The hooks of one app: what its files ask for, the runner that they are loaded in, and how both follow the files.
import type { ToRunner } from '../../hook-runner/protocol.ts';
import type { AppIdentity } from '../../storage/definition.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { logFailure } from '../logging/events.ts';
import { type CodeSnapshot, readCodeSnapshot } from './files/code-snapshot.ts';
import type { LoadedCode } from './files/versions.ts';
import { type BestCode, openBest } from './pool/best-code.ts';
import type { Counters } from './pool/counters.ts';
import { loadFaults, retryDelayMs, toRefusal } from './files/faults.ts';
import type { Generation, ReadyRunner, RunRequest } from './pool/generation.ts';
import { AppOpener, type RunnerParts } from './pool/opener.ts';
import type { ChannelEnd } from './rpc/invocation.ts';
import { DrainingGenerations } from './pool/draining.ts';
import { type LoadCause, LoadQueue } from './pool/load-queue.ts';
import type { HookLog } from './logs/log.ts';
import type { LogShares } from './logs/log-shares.ts';
import { logLoad, type PrintLine } from './logs/terminal.ts';
import type { FileFault, LoadResult } from './ports.ts';
import { Registrations } from './registrations.ts';
import { RunLimit, type RunLimitDeps } from './pool/run-limit.ts';
import { AppSlots, type SharedSlots } from './pool/slots.ts';

/** The dependencies that the hooks of all apps share. */
export interface AppHooksOptions extends RunnerParts {
  deps: RunnerParts['deps'] & RunLimitDeps & Pick<Deps, 'config' | 'databases' | 'hosts' | 'secrets' | 'now'>;
  slots: SharedSlots;
  print?: PrintLine | undefined;
  logs: LogShares;
  /** Hears that other registrations may be in effect, and again every few seconds; a load waits for it. Never throws. */
  onLoaded: (hooks: AppHooks) => Promise<unknown>;
}

const noRegistrations = new Registrations([]);
const retryMs = 2_000;
/** A file that holds its runner up costs a process each time, and may not have all of them shut out as crashing. */
const retryBrokenMs = 30_000;

/** The hooks of one app in this process. */
export class AppHooks {
  readonly app: AppIdentity;
  /** The same as URLs name it. */
  readonly path: { readonly workspace: string; readonly app: string };
  readonly log: HookLog;
  readonly slots: AppSlots;
  readonly counters: Counters = { runs: 0, errors: 0, lastKill: null, lastKillAt: null };
  /** The names of the files that run as they are. */
  loaded: readonly string[] = [];
  /** Of the files as they were loaded last; another array after each load. */
  faults: readonly FileFault[] = [];
  /** What loaded, until that is stored. */
  unsaved: LoadedCode | undefined;
  readonly #options: AppHooksOptions;
  readonly #limit: RunLimit;
  readonly #opener: AppOpener;
  readonly #draining = new DrainingGenerations();
  #registrations: Registrations | undefined;
  #live: Generation | undefined;
  #fingerprint = '';
  #failed: { error: ApiError; until: number; retryMs: number | undefined } | undefined;
  readonly #loads = new LoadQueue((cause) => this.#load(cause));
  /** State of the code that was loaded last, whatever came of it. */
  #triedFingerprint = '';
  #retryBrokenAt = 0;
  #isDropped = false;

  constructor({ workspace, id, schema }: AppIdentity, parts: AppHooksOptions) {
    this.app = { workspace, id, schema };
    this.path = { workspace: workspace.id, app: id };
    this.#options = parts;
    this.#limit = new RunLimit(parts.deps, this.path);
    this.slots = new AppSlots(parts.slots, workspace.id, this.#limit);
    this.log = parts.logs.open(workspace.id, (entry) => parts.print?.(this.path, entry));
    this.#opener = new AppOpener(parts, {
      ...{ app: this.app, limit: this.#limit, log: this.log, live: () => this.#live },
      onEnd: (end, message) => this.#noteEnd(end, message),
    });
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

  /** Loads the files again, of which some do not load: they may have waited for what is there now. */
  retryBroken(): void {
    if (performance.now() < this.#retryBrokenAt) return;
    this.#retryBrokenAt = performance.now() + retryBrokenMs;
    void this.reload(true).catch(logFailure(this.#options.deps, 'load hooks that did not load'));
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
    const snapshot = await readCodeSnapshot(deps, this.app, (await this.#limit.find()).cronMinSec);
    const { files, readFaults, fingerprint } = snapshot;
    const isInEffect = fingerprint === this.#fingerprint && this.#registrations !== undefined;
    if (cause === 'changed' && isInEffect) {
      this.#failed = undefined;
      return this.#currentResult();
    }
    // Not before: until the load that is under way has ended, it goes by what it finds.
    if (cause === 'asked' || fingerprint !== this.#triedFingerprint) this.#opener.quarantine.clear();
    this.#triedFingerprint = fingerprint;
    try {
      this.#replace(await openBest(snapshot, this.#opener.opener(snapshot)), snapshot);
    } catch (error) {
      const refusal = toRefusal(error);
      this.#endDeleted(snapshot);
      // Nobody knows what these files would have vetoed; only code that was in effect before them may go on.
      if (this.#registrations?.files.length === 0) this.#registrations = undefined;
      this.#failed = { error: refusal, until: performance.now() + retryMs, retryMs: retryDelayMs(error) };
      this.faults = [...readFaults, ...loadFaults(error, refusal.message, files)];
    }
    this.#retryBrokenAt = performance.now() + retryBrokenMs;
    logLoad(this.log, cause, this.#currentResult());
    if (!this.#isDropped) await onLoaded(this);
    return this.#currentResult();
  }

  #replace({ generation, loaded, older, broken, faults }: BestCode, snapshot: CodeSnapshot): void {
    if (this.#live !== generation) this.stopRunner();
    this.#live = generation;
    const { files, jobPolicy } = generation?.registrations ?? noRegistrations;
    this.#registrations = new Registrations(files, jobPolicy, broken);
    this.loaded = loaded.map(({ file }) => file);
    this.#fingerprint = snapshot.fingerprint;
    this.faults = [...faults, ...jobPolicy?.faults ?? []];
    this.#failed = undefined;
    this.unsaved = { ...snapshot, loaded };
    this.log.addOlder(older);
    if (this.#isDropped) this.drop();
  }

  /** Files that are deleted run no longer, whatever became of the others. */
  #endDeleted({ names }: CodeSnapshot): void {
    const { files, jobPolicy, broken } = this.#registrations ?? noRegistrations;
    if (files.every(({ file }) => names.has(file))) return;
    this.stopRunner();
    const isLeft = ({ file }: { file: string }) => names.has(file);
    this.#registrations = new Registrations(files.filter(isLeft), jobPolicy, broken.filter(isLeft));
    this.loaded = this.loaded.filter((file) => names.has(file));
  }

  #noteEnd(end: ChannelEnd, message: string): void {
    if (end === 'closed') return;
    this.counters.lastKill = end;
    this.counters.lastKillAt = this.#options.deps.now().getTime();
    this.log.add({ level: 'error', message, fields: { reason: end } });
  }

  #currentResult(): LoadResult {
    return { loaded: [...this.loaded], errors: [...this.faults] };
  }
}
