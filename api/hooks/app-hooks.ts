// The hooks of one app: what its files ask for, the runner that they are loaded in, and how both follow the files.
import type { CallFrame, LoadFrame, ToRunner } from '../../hook-runner/protocol.ts';
import type { AppIdentity } from '../../storage/definition.ts';
import type { FairQueue } from '../../storage/concurrency/fair-queue.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { logFailure } from '../logging/events.ts';
import { type CodeSnapshot, readCode } from './files/code-snapshot.ts';
import type { Counters } from './pool/counters.ts';
import type { SharedSlots } from './pool/slots.ts';
import { faultOfCode, faultsOfLoad, refusalOf, retryAfter } from './files/faults.ts';
import { type CallContext, Generation, type Ready, type RunWish } from './pool/generation.ts';
import type { SupervisedRunners } from './pool/host.ts';
import type { ChannelEnd } from './rpc/invocation.ts';
import { Leaving } from './pool/draining.ts';
import { type LoadCause, LoadQueue } from './pool/load-queue.ts';
import { HookLog } from './logs/log.ts';
import type { FileFault, Loading } from './ports.ts';
import { Registrations } from './registrations.ts';
import { type LimitDeps, RunLimit } from './pool/run-limit.ts';
import { retryWhileFull } from './pool/start-retry.ts';
import { Quarantine } from './pool/quarantine.ts';
import { AppSlots } from './pool/slots.ts';

/** What the hooks of every app need. */
export interface HookParts {
  deps: LimitDeps & Pick<Deps, 'config' | 'databases' | 'secrets' | 'activity' | 'now' | 'observe'>;
  host: SupervisedRunners;
  slots: SharedSlots;
  /** Of processes; loading code is no part of it. */
  starts: FairQueue;
  /** Most of a core that a runner may take while nothing is asked of it; four fifths unless it is given. */
  restShare?: number | undefined;
  /** Does what hook code of an app asks for. Throws `ApiError`. */
  answer: (app: AppIdentity, call: CallFrame, context: CallContext) => Promise<unknown>;
  /** Called before a runner is started: another may have to go. */
  makeRoom: () => void;
  /** Hears that other registrations may be in effect, and again every few seconds; a load waits for it. Never throws. */
  onLoaded: (hooks: AppHooks) => Promise<void>;
}

const nothing = new Registrations([]);
const retryMilliseconds = 2_000;

/** The hooks of one app in this process. */
export class AppHooks {
  readonly app: AppIdentity;
  /** The same as URLs name it. */
  readonly place: { readonly workspace: string; readonly app: string };
  readonly log: HookLog;
  readonly slots: AppSlots;
  readonly counters: Counters = { runs: 0, errors: 0, lastKill: null, lastKillAt: null };
  readonly #parts: HookParts;
  readonly #limit: RunLimit;
  readonly #quarantine = new Quarantine();
  readonly #leaving = new Leaving();
  #known: Registrations | undefined;
  #live: Generation | undefined;
  #fingerprint = '';
  #faults: FileFault[] = [];
  #failed: { error: ApiError; until: number; retryIn: number | undefined } | undefined;
  readonly #loads = new LoadQueue((cause) => this.#load(cause));
  /** State of the code that was loaded last, whatever came of it. */
  #tried = '';
  #generations = 0;
  #isGone = false;

  constructor({ workspace, id, schema }: AppIdentity, parts: HookParts) {
    this.app = { workspace, id, schema };
    this.place = { workspace: workspace.id, app: id };
    this.#parts = parts;
    this.#limit = new RunLimit(parts.deps, this.place);
    this.slots = new AppSlots(parts.slots, workspace.id);
    this.log = new HookLog(parts.deps.now);
  }

  /** What is registered; undefined while that is not known. */
  get known(): Registrations | undefined {
    return this.#known;
  }

  /** Milliseconds after which to load files again that are not in effect, for no fault of theirs. */
  get retryIn(): number | undefined {
    return this.#failed?.retryIn;
  }

  /** The runner that is there now. */
  get live(): Generation | undefined {
    return this.#live;
  }

  /** What is registered. Throws `ApiError` when that cannot be found out: nothing may go on then as if there were no hooks. */
  async learn(): Promise<Registrations> {
    if (this.#known === undefined) await this.#wake();
    return this.#known ?? nothing;
  }

  /** Loads the files as they are now; without `force` only when they are others than those in effect. */
  reload(force: boolean): Promise<Loading> {
    return this.#loads.ask(force ? 'asked' : 'changed');
  }

  /** Runs a handler, starting a runner where there is none. Throws `ApiError`. */
  async run({ requestId, depth, deadline = Infinity }: RunWish, write: (id: number) => ToRunner) {
    const ready = this.ready();
    const { generation, milliseconds } = ready instanceof Promise ? await ready : ready;
    const run = { requestId, depth, deadline: Math.min(performance.now() + milliseconds, deadline) };
    this.noteRun();
    try {
      const result = await generation.run(run, write);
      if (result.outcome === 'failed') this.counters.errors++;
      return result;
    } catch (error) {
      this.counters.errors++;
      throw error;
    }
  }

  /** What a run needs, at once where all of it is there. Throws `ApiError`. */
  ready(): Ready | Promise<Ready> {
    const { known: milliseconds } = this.#limit;
    const generation = this.#live;
    const isSure = generation?.isOpen === true && generation.channel.doubt === undefined;
    return isSure && milliseconds !== undefined ? { generation, milliseconds } : this.#getReady();
  }

  /** Counts a run that begins. */
  noteRun(): void {
    this.counters.runs++;
    this.#parts.deps.activity.hookRun(this.app);
  }

  /** Leaves what is in effect, which may not be what the files say any more: the next use loads them. */
  forget(): void {
    this.rest();
    this.#known = undefined;
  }

  /** Stops the runner; registrations are remembered. */
  rest(): void {
    if (this.#live !== undefined) this.#leaving.add(this.#live);
    this.#live = undefined;
  }

  /** The app is gone. */
  drop(): void {
    this.#isGone = true;
    this.rest();
    this.#leaving.close();
  }

  async #getReady(): Promise<Ready> {
    const milliseconds = await this.#limit.find();
    const before = this.#live;
    // One that is stuck in its code is not waited for: another takes its place while it is found out.
    const isStuck = await before?.channel.doubt === false;
    if (isStuck && this.#live === before) this.#live = undefined;
    if (this.#live?.isOpen !== true) await this.#wake();
    if (this.live?.isOpen === true) return { generation: this.live, milliseconds };
    throw new ApiError('hook_error', 'the hook runner ended before the hook ran');
  }

  /** Loads for a runner that is needed now. */
  async #wake(): Promise<void> {
    const { underWay } = this.#loads;
    const isLately = this.#failed !== undefined && performance.now() < this.#failed.until;
    if (underWay === undefined && this.#failed !== undefined && isLately) throw this.#failed.error;
    await (underWay ?? this.#loads.ask('needed'));
    if (this.#failed !== undefined) throw this.#failed.error;
    // What was under way may have found the files as they were, and so started nothing.
    const isHere = this.#isGone || this.#known?.files.length === 0 || this.#live?.isOpen === true;
    if (underWay !== undefined && !isHere) await this.#wake();
  }

  async #load(cause: LoadCause): Promise<Loading> {
    const { deps, onLoaded } = this.#parts;
    const snapshot = await readCode(deps, this.app);
    const { files, unread, fingerprint } = snapshot;
    const isInEffect = fingerprint === this.#fingerprint && this.#known !== undefined;
    if (cause === 'changed' && isInEffect) {
      this.#failed = undefined;
      return this.#loadingNow();
    }
    // Not before: until the load that is under way has ended, it goes by what it finds.
    if (cause === 'asked' || fingerprint !== this.#tried) this.#quarantine.clear();
    this.#tried = fingerprint;
    let faults = unread;
    try {
      const live = files.length === 0 ? undefined : await this.#open(snapshot);
      const faultsOfCode = live?.loaded.errors.map(faultOfCode) ?? [];
      faults = [...unread, ...this.#quarantine.faults(files), ...faultsOfCode];
      this.#replace(live, fingerprint);
    } catch (error) {
      const refusal = refusalOf(error);
      // Nobody knows what these files would have vetoed; only code that was in effect before them may go on.
      if (this.#known?.files.length === 0) this.#known = undefined;
      const until = performance.now() + retryMilliseconds;
      this.#failed = { error: refusal, until, retryIn: retryAfter(error) };
      faults = [...unread, ...faultsOfLoad(error, refusal.message, files)];
    }
    this.#faults = faults;
    this.log.blame(faults, null);
    if (!this.#isGone) await onLoaded(this);
    return this.#loadingNow();
  }

  async #open({ files: all, env, fingerprint }: CodeSnapshot): Promise<Generation | undefined> {
    const { deps, host, starts, restShare, answer, makeRoom } = this.#parts;
    const { value: memory_mb } = await deps.policies.range('hooks.memory_mb', this.place);
    const load = async (files: LoadFrame['files']) =>
      Generation.open({
        host,
        starts,
        wish: { ...this.place, memory_mb },
        load: { ...this.place, generation: ++this.#generations, files, env },
        fingerprint,
        loadMilliseconds: await this.#limit.find(),
        restShare,
        answer: (call, context) => answer(this.app, call, context),
        onLog: (line, request_id) => this.log.add({ ...line, request_id }),
        onOutput: (message) => this.log.add({ level: 'info', message }),
        onGone: (end, message) => this.#noteEnd(end, message),
        report: logFailure(deps, 'answer a hook'),
      });
    return await this.#quarantine.open(all, (files) => retryWhileFull(makeRoom, () => load(files)));
  }

  #replace(live: Generation | undefined, fingerprint: string): void {
    this.rest();
    this.#live = live;
    this.#known = live?.registrations ?? nothing;
    this.#fingerprint = fingerprint;
    this.#failed = undefined;
    if (this.#isGone) this.drop();
  }

  #noteEnd(end: ChannelEnd, message: string): void {
    if (end === 'closed') return;
    this.counters.lastKill = end;
    this.counters.lastKillAt = this.#parts.deps.now().getTime();
    this.log.add({ level: 'error', message, fields: { reason: end } });
  }

  #loadingNow(): Loading {
    return { loaded: (this.#known ?? nothing).files.map(({ file }) => file), errors: [...this.#faults] };
  }
}
