// The hooks of all apps of this process: found at once, started when needed, stopped when idle or when others need the room.
import { randomUUID } from 'node:crypto';
import type { Change } from '../../storage/control/changes.ts';
import type { AppDefinition, AppIdentity } from '../../storage/definition.ts';
import { FairQueue } from '../../storage/concurrency/fair-queue.ts';
import { logFailure } from '../logging/events.ts';
import type { ApiPeers } from '../process/peers.ts';
import type { TenantPath } from '../scope.ts';
import { AppHooks, type HookParts } from './app-hooks.ts';
import { createSharedSlots } from './pool/slots.ts';
import { firstToStop } from './pool/eviction.ts';
import type { Schedule } from './jobs/schedule.ts';
import { serveCustom } from './routes/serve.ts';
import {
  type HookQuestion,
  LogEverywhere,
  type LogPart,
  stateEverywhere,
  type StatePart,
} from './logs/aggregate.ts';
import type { AppLog, AppWriteHooks, CustomRequest, FileFault, Hooks, HookState, Loading } from './ports.ts';
import { writeHooksOf } from './record-hooks.ts';
import type { Registrations } from './registrations.ts';
import type { CronTimes } from './jobs/times.ts';
import { stateOf } from './logs/state.ts';
import { type CheckParts, tellOfUncalled, warningsOf } from './files/warnings.ts';

const sweepMs = 5_000;
/** A start takes some 30 ms of a core and has 3 s to be ready: a hundred that start together would be too slow, all of them. */
const startsAtOnce = 4;

interface Surroundings {
  /** The app of these ids, as it is now. */
  find: (workspace: string, app: string) => Promise<AppDefinition | undefined>;
  /** In the process that keeps it. */
  schedule: Schedule | undefined;
  times: CronTimes;
  /** Most runners at once. */
  mostRunners: number;
  /** The other API processes. */
  peers: ApiPeers;
  checker: CheckParts['host'];
}

/** Every app whose hooks somebody has asked for. */
export class Runners implements Hooks {
  readonly #parts: HookParts & Surroundings;
  /** By the name of the app's schema, which no other app ever has. */
  readonly #apps = new Map<string, AppHooks>();
  readonly #loadsAgainSoon = new WeakSet<AppHooks>();
  readonly #wrapped = new WeakMap<Registrations, AppWriteHooks>();
  readonly #sweep: NodeJS.Timeout;
  /** What the other processes know this one by; a successor has another. */
  readonly #name = randomUUID();

  constructor(
    { starts = new FairQueue({ slots: startsAtOnce }), ...parts }:
      & Omit<HookParts, 'makeRoom' | 'slots' | 'starts'>
      & Partial<Pick<HookParts, 'starts'>>
      & Surroundings,
  ) {
    this.#parts = { ...parts, starts, slots: createSharedSlots(), makeRoom: () => this.#makeRoom() };
    this.#sweep = setInterval(() => this.#lookAfter(), sweepMs).unref();
  }

  /** The hooks of an app. */
  of(app: AppDefinition): AppHooks {
    const known = this.#apps.get(app.schema);
    if (known !== undefined) return known;
    const hooks = new AppHooks(app, this.#parts);
    this.#apps.set(app.schema, hooks);
    return hooks;
  }

  async writesOf(app: AppDefinition): Promise<AppWriteHooks> {
    const hooks = this.of(app);
    return this.#wrap(hooks, hooks.known ?? await hooks.learn());
  }

  async reload(app: AppDefinition): Promise<Loading> {
    const { host } = this.#parts;
    host.forgive(app.workspace.id, app.id);
    return await this.of(app).reload(true);
  }

  /** The files of an app may be others than those in effect. An app that nobody has asked for may have jobs by now. */
  refresh(place: { workspace: string; app: string }): void {
    const known = this.#in(place);
    for (const hooks of known) void this.#follow(hooks);
    if (known.length > 0 || this.#parts.schedule === undefined) return;
    void this.#discover(place).catch(logFailure(this.#parts.deps, 'load hooks from a new file'));
  }

  check(app: AppDefinition): Promise<FileFault[]> {
    const { deps, checker } = this.#parts;
    const hooks = this.of(app);
    tellOfUncalled(hooks, app);
    return warningsOf({ deps, host: checker, log: hooks.log }, app);
  }

  log(app: AppDefinition): AppLog {
    return new LogEverywhere(this.#parts.peers, app.schema, this.of(app).log);
  }

  serve(app: AppDefinition, request: CustomRequest): Promise<void> {
    return serveCustom(this.#parts.deps, this.of(app), app, request);
  }

  async state(app: AppDefinition): Promise<HookState> {
    return await stateEverywhere(this.#parts.peers, app.schema, await this.#stateHere(this.of(app)));
  }

  /** What another process asks of this one. Null for an app that nobody has asked this one for. */
  async answerPeer(question: HookQuestion): Promise<StatePart | LogPart | null> {
    const hooks = this.#apps.get(question.schema);
    if (hooks === undefined) return null;
    if (question.about === 'state') return await this.#stateHere(hooks);
    const { log } = hooks;
    return { process: this.#name, place: log.place, entries: log.after(question.after[this.#name] ?? 0) };
  }

  #stateHere(hooks: AppHooks): Promise<StatePart> {
    const { schedule, times, deps } = this.#parts;
    return stateOf(hooks, { times, lastRuns: schedule?.lastRuns(hooks.app) ?? new Map(), now: deps.now() });
  }

  /** Hears of a change in whatever process. */
  onChange(change: Change): void {
    this.#parts.schedule?.onChange(change);
    if (change.kind === 'hooks') this.refresh(change);
    if (change.kind === 'policies') void this.#refit(change);
    if (change.kind === 'workspace' || change.kind === 'app') void this.#dropGone(change);
  }

  /** Changes may have been missed. */
  resync(): void {
    this.#parts.schedule?.read();
    for (const hooks of this.#apps.values()) void this.#follow(hooks);
    void this.#refit({});
  }

  drop(app: AppIdentity): void {
    this.#parts.schedule?.drop(app.schema);
    this.#apps.get(app.schema)?.drop();
    this.#apps.delete(app.schema);
  }

  /** Drops all apps of a workspace. */
  dropWorkspace(workspace: string): void {
    for (const { app } of this.#in({ workspace })) this.drop(app);
  }

  /** Ends every runner. */
  close(): void {
    clearInterval(this.#sweep);
    this.#parts.schedule?.close();
    for (const { app } of this.#in({})) this.drop(app);
  }

  /** The apps of a place as they are now: while they are gone through, some may go. */
  #in({ workspace, app }: TenantPath): AppHooks[] {
    return [...this.#apps.values()].filter(({ place }) =>
      (workspace === undefined || place.workspace === workspace) && (app === undefined || place.app === app)
    );
  }

  async #follow(hooks: AppHooks): Promise<void> {
    try {
      await hooks.reload(false);
      // Nobody who put the files is told that this process goes on without them.
      if (hooks.retryIn !== undefined) this.#followLater(hooks, hooks.retryIn);
    } catch (error) {
      // The app may be gone, or its database away: what it vetoes now is not known.
      hooks.forget();
      logFailure(this.#parts.deps, 'load hooks that have changed')(error);
    }
  }

  #followLater(hooks: AppHooks, milliseconds: number): void {
    if (this.#loadsAgainSoon.has(hooks)) return;
    this.#loadsAgainSoon.add(hooks);
    setTimeout(() => {
      this.#loadsAgainSoon.delete(hooks);
      if (hooks.retryIn !== undefined && this.#apps.get(hooks.app.schema) === hooks) void this.#follow(hooks);
    }, milliseconds).unref();
  }

  async #discover({ workspace, app }: { workspace: string; app: string }): Promise<void> {
    const found = await this.#parts.find(workspace, app);
    if (found !== undefined) await this.#follow(this.of(found));
  }

  /** Made once for each state of an app's code, so that asking costs a look into a map. */
  #wrap(hooks: AppHooks, registrations: Registrations): AppWriteHooks {
    const made = this.#wrapped.get(registrations);
    if (made !== undefined) return made;
    const wrapped = writeHooksOf(hooks, registrations);
    this.#wrapped.set(registrations, wrapped);
    return wrapped;
  }

  async #dropGone(where: TenantPath): Promise<void> {
    const { find, deps } = this.#parts;
    for (const { app, place } of this.#in(where)) {
      try {
        const found = await find(place.workspace, place.app);
        if (found?.schema !== app.schema) this.drop(app);
      } catch (error) {
        deps.observe({ type: 'background_failed', task: 'look for the app of hooks', error: String(error) });
      }
    }
  }

  /** Ends runners that policy gives other memory by now than they were started with; the next call starts another. */
  async #refit({ workspace }: TenantPath): Promise<void> {
    const { policies, observe } = this.#parts.deps;
    for (const hooks of this.#in({ workspace })) {
      const { live, place } = hooks;
      if (live === undefined) continue;
      try {
        const { value } = await policies.range('hooks.memory_mb', place);
        if (value !== live.memory_mb && hooks.live === live) hooks.rest();
      } catch (error) {
        observe({ type: 'background_failed', task: 'refit hook runners', error: String(error) });
      }
    }
  }

  #lookAfter(): void {
    const before = performance.now() - this.#parts.deps.config.hooks.idle_ms;
    for (const hooks of this.#apps.values()) {
      const { live } = hooks;
      // Its jobs may not have been saved.
      void this.#parts.onLoaded(hooks);
      if (live === undefined || !live.channel.isOpen) continue;
      if (live.channel.inFlight === 0 && live.usedAt < before) hooks.rest();
      else void live.watch();
    }
  }

  /** Stops a runner when there are as many as there may be. */
  #makeRoom(): void {
    const running = [...this.#apps.values()].filter(({ live }) => live !== undefined);
    if (running.length >= this.#parts.mostRunners) firstToStop(running)?.rest();
  }
}
