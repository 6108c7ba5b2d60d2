// The hooks of all apps of this process: found at once, started when needed, stopped when idle or when others need the room.
import { randomUUID } from 'node:crypto';
import type { Change } from '../../storage/control/changes.ts';
import type { AppDefinition, AppIdentity } from '../../storage/definition.ts';
import { FairQueue } from '../../storage/concurrency/fair-queue.ts';
import { logFailure } from '../logging/events.ts';
import type { TenantPath } from '../scope.ts';
import { AppHooks, type AppHooksOptions } from './app-hooks.ts';
import { createSharedSlots } from './pool/slots.ts';
import { PeerJobRunner } from './jobs/peer-runs.ts';
import { makeRoom } from './pool/eviction.ts';
import { applyPolicies } from './pool/apply-policies.ts';
import { serveCustom } from './routes/serve.ts';
import {
  AggregateLog,
  aggregateState,
  type PeerLog,
  type PeerQuestion,
  type PeerState,
} from './logs/aggregate.ts';
import type {
  AppLog,
  AppWriteHooks,
  CustomRequest,
  FileFault,
  Hooks,
  HookState,
  JobRunner,
  LoadResult,
  RunningFile,
} from './ports.ts';
import type { HookRunnersOptions } from './options.ts';
import { makeWriteHooks } from './record-hooks.ts';
import type { Registrations } from './registrations.ts';
import { makeUserHooks } from './user-hooks.ts';
import { localState } from './logs/state.ts';
import { listRunningFiles } from './files/running.ts';
import { FileChecks } from './files/warnings.ts';

const sweepMs = 5_000;
/** A start takes some 30 ms of a core and has 3 s to be ready: a hundred that start together would be too slow, all of them. */
const startsAtOnce = 4;

/** Every app whose hooks somebody has asked for. */
export class HookRunners implements Hooks {
  readonly jobs: JobRunner;
  readonly #options: AppHooksOptions & HookRunnersOptions;
  /** By the name of the app's schema, which no other app ever has. */
  readonly #apps = new Map<string, AppHooks>();
  readonly #awaitingRetry = new WeakSet<AppHooks>();
  readonly #checks: FileChecks;
  readonly #writeHooks = new WeakMap<Registrations, AppWriteHooks>();
  readonly #sweep: NodeJS.Timeout;
  /** The name by which the other processes know this one; a successor has another. */
  readonly #processId = randomUUID();

  constructor(
    { starts = new FairQueue({ slots: startsAtOnce }), ...parts }:
      & Omit<AppHooksOptions, 'evict' | 'slots' | 'starts'>
      & Partial<Pick<AppHooksOptions, 'starts'>>
      & HookRunnersOptions,
  ) {
    const evict = (workspace: string) => makeRoom(this.#apps.values(), workspace, parts.maxRunners);
    this.#options = { ...parts, starts, slots: createSharedSlots(), evict };
    this.jobs = parts.schedule ?? new PeerJobRunner(parts.peers, randomUUID);
    this.#checks = new FileChecks(parts.deps, parts.checker);
    this.#sweep = setInterval(() => this.#sweepRunners(), sweepMs).unref();
  }

  /** The hooks of an app. */
  get(app: AppDefinition): AppHooks {
    const known = this.#apps.get(app.schema);
    if (known !== undefined) return known;
    const hooks = new AppHooks(app, this.#options);
    this.#apps.set(app.schema, hooks);
    return hooks;
  }

  async getWriteHooks(app: AppDefinition): Promise<AppWriteHooks> {
    const hooks = this.get(app);
    return this.#makeWriteHooks(hooks, hooks.registrations ?? await hooks.loadRegistrations());
  }

  getUserHooks: Hooks['getUserHooks'] = async (app) =>
    makeUserHooks(this.get(app), await this.get(app).loadRegistrations());

  async reload(app: AppDefinition): Promise<LoadResult> {
    const { host } = this.#options;
    host.clearCrashes(app.workspace.id, app.id);
    return await this.get(app).reload(true);
  }

  /** The files of an app may be others than those in effect. An app that nobody has asked for may have jobs by now. */
  refresh(place: { workspace: string; app: string }): void {
    const known = this.#findIn(place);
    for (const hooks of known) void this.#reload(hooks);
    if (known.length > 0 || this.#options.schedule === undefined) return;
    void this.#loadNew(place).catch(logFailure(this.#options.deps, 'load hooks from a new file'));
  }

  check(app: AppDefinition): Promise<FileFault[]> {
    return this.#checks.check(this.get(app), app);
  }

  log(app: AppDefinition): AppLog {
    return new AggregateLog(this.#options.peers, app.schema, this.get(app).log);
  }

  serve(app: AppDefinition, request: CustomRequest): Promise<void> {
    return serveCustom(this.#options.deps, this.get(app), app, request);
  }

  files(app: AppDefinition): Promise<RunningFile[]> {
    return listRunningFiles(this.#options.deps, app, this.get(app));
  }

  async state(app: AppDefinition): Promise<HookState> {
    const own = await this.#localState(this.get(app));
    const state = await aggregateState(this.#options.peers, app.schema, own);
    return { ...state, files: await this.files(app) };
  }

  /** Responds to a question of another process. Null for an app that no request to this process was about. */
  async respondToPeer(question: PeerQuestion): Promise<PeerState | PeerLog | null> {
    const hooks = this.#apps.get(question.schema);
    if (hooks === undefined) return null;
    if (question.about === 'state') return await this.#localState(hooks);
    const { log } = hooks;
    const entries = log.after(question.after[this.#processId] ?? 0);
    return { process: this.#processId, position: log.place, entries };
  }

  #localState(hooks: AppHooks): Promise<PeerState> {
    const { schedule, times, deps } = this.#options;
    const lastRuns = schedule?.lastRuns(hooks.app) ?? new Map();
    return localState(hooks, { times, lastRuns, now: deps.now() });
  }

  /** Hears of a change in whatever process. */
  onChange(change: Change): void {
    this.#options.schedule?.onChange(change);
    if (change.kind === 'hooks') this.refresh(change);
    if (change.kind === 'policies') void this.#applyPolicies(change);
    if (change.kind === 'workspace' || change.kind === 'app') void this.#dropDeleted(change);
  }

  /** Changes may have been missed. */
  resync(): void {
    this.#options.schedule?.read();
    for (const hooks of this.#apps.values()) void this.#reload(hooks);
    void this.#applyPolicies({});
  }

  drop(app: AppIdentity): void {
    const { schedule, logs } = this.#options;
    schedule?.drop(app.schema);
    const hooks = this.#apps.get(app.schema);
    hooks?.drop();
    if (hooks !== undefined) logs.close(app.workspace.id, hooks.log);
    this.#apps.delete(app.schema);
  }

  /** Drops all apps of a workspace. */
  dropWorkspace(workspace: string): void {
    for (const { app } of this.#findIn({ workspace })) this.drop(app);
  }

  routes: Hooks['routes'] = async (app) => (await this.get(app).loadRegistrations()).everyRoute;
  memoryOf: Hooks['memoryOf'] = (place) => this.#options.host.memoryOf(place);

  /** Ends every runner. */
  close(): void {
    clearInterval(this.#sweep);
    this.#options.schedule?.close();
    for (const { app } of this.#findIn({})) this.drop(app);
  }

  /** The apps of a place as they are now: while they are gone through, some may go. */
  #findIn({ workspace, app }: TenantPath): AppHooks[] {
    return [...this.#apps.values()].filter(({ path }) =>
      (workspace === undefined || path.workspace === workspace) && (app === undefined || path.app === app)
    );
  }

  async #reload(hooks: AppHooks): Promise<void> {
    const report = logFailure(this.#options.deps, 'load hooks that have changed');
    try {
      const { faults } = hooks;
      await hooks.reload(false);
      // One process says it: the others have loaded the same.
      const isOurs = hooks.faults !== faults && this.#options.schedule !== undefined;
      if (isOurs) void this.#checks.checkChanged(hooks, this.#options.findApp).catch(report);
      // Nobody who put the files is told that this process goes on without them.
      if (hooks.retryIn !== undefined) this.#reloadLater(hooks, hooks.retryIn);
    } catch (error) {
      // The app may be gone, or its database away: what it vetoes now is not known.
      hooks.invalidate();
      report(error);
    }
  }

  #reloadLater(hooks: AppHooks, milliseconds: number): void {
    if (this.#awaitingRetry.has(hooks)) return;
    this.#awaitingRetry.add(hooks);
    setTimeout(() => {
      this.#awaitingRetry.delete(hooks);
      if (hooks.retryIn !== undefined && this.#apps.get(hooks.app.schema) === hooks) void this.#reload(hooks);
    }, milliseconds).unref();
  }

  async #loadNew({ workspace, app }: { workspace: string; app: string }): Promise<void> {
    const found = await this.#options.findApp(workspace, app);
    if (found !== undefined) await this.#reload(this.get(found));
  }

  /** Made once for each state of an app's code, so that asking costs a look into a map. */
  #makeWriteHooks(hooks: AppHooks, registrations: Registrations): AppWriteHooks {
    const made = this.#writeHooks.get(registrations) ?? makeWriteHooks(hooks, registrations);
    this.#writeHooks.set(registrations, made);
    return made;
  }

  async #dropDeleted(where: TenantPath): Promise<void> {
    const { findApp, deps } = this.#options;
    for (const { app, path } of this.#findIn(where)) {
      try {
        const found = await findApp(path.workspace, path.app);
        if (found?.schema !== app.schema) this.drop(app);
      } catch (error) {
        deps.observe({ type: 'background_failed', task: 'look for the app of hooks', error: String(error) });
      }
    }
  }

  async #applyPolicies({ workspace }: TenantPath): Promise<void> {
    const { host, deps } = this.#options;
    const reload = (hooks: AppHooks) => this.#reload(hooks);
    for (const hooks of this.#findIn({ workspace })) await applyPolicies(hooks, { host, deps, reload });
  }

  #sweepRunners(): void {
    const before = performance.now() - this.#options.deps.config.hooks.idle_ms;
    for (const hooks of this.#apps.values()) {
      const { live } = hooks;
      // Its jobs and versions may not have been saved.
      void this.#options.onLoaded(hooks);
      if (live?.channel.isOpen && live.channel.inFlight === 0 && live.usedAt < before) hooks.stopRunner();
    }
  }
}
