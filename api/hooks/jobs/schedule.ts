// Scheduled jobs of all apps. They are kept in the database and by one API process, not by runners, which may rest meanwhile.
import type { Change } from '../../../storage/control/changes.ts';
import type { AppDefinition, AppIdentity } from '../../../storage/definition.ts';
import { type AppJobs, listHookJobs, removeHookJobs } from '../../../storage/control/hook-jobs.ts';
import { FairQueue } from '../../../storage/concurrency/fair-queue.ts';
import type { Deps } from '../../deps.ts';
import { ApiError, fail } from '../../errors.ts';
import { logFailure } from '../../logging/events.ts';
import type { AppHooks } from '../app-hooks.ts';
import type { JobOutcome, JobRunner } from '../ports.ts';
import { CronJob } from './job.ts';
import { type JobResult, refused, toOutcome } from './result.ts';
import { failNoJob, runJob } from './run.ts';
import { type CronTimes, type ParseExpression, yieldToEventLoop } from './times.ts';

/** The dependencies of the schedule. */
export interface ScheduleOptions {
  deps: Pick<Deps, 'databases' | 'observe' | 'now'>;
  times: CronTimes;
  newId: () => string;
  /** The app of these ids, as it is now. */
  findApp: (workspace: string, app: string) => Promise<AppDefinition | undefined>;
  getHooks: (app: AppDefinition) => AppHooks;
}

interface JobOwner {
  workspace: string;
  app: string;
  schema: string;
}

interface AppSchedule {
  path: { workspace: string; app: string };
  jobs: Map<string, CronJob<JobResult>>;
}

/** Jobs of a workspace that run at once. The others wait: at most one run of each, since what is due meanwhile is left out. */
const maxJobsOfWorkspace = 4;

const notRun = refused(
  new ApiError('unavailable', 'the job could not be run; try again', [['Retry-After', '1']]),
);

/** The jobs of all apps, run in this process. */
export class Schedule implements JobRunner {
  readonly #options: ScheduleOptions;
  /** By the schema of the app. */
  readonly #apps = new Map<string, AppSchedule>();
  /** Owners are workspaces; the clients of each are its apps. */
  readonly #turns = new FairQueue({ slots: Infinity, perOwner: maxJobsOfWorkspace });
  #reading: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(parts: ScheduleOptions) {
    this.#options = parts;
  }

  /** When jobs of an app were last run, by name. */
  lastRuns({ schema }: AppIdentity): ReadonlyMap<string, Date | null> {
    const jobs = this.#apps.get(schema)?.jobs ?? [];
    return new Map([...jobs].map(([name, { last }]) => [name, last]));
  }

  async requireIdle(app: AppDefinition, name: string): Promise<void> {
    if ((await this.#findJob(app, name)).isRunning) failRunning(name);
  }

  async run(
    app: AppDefinition,
    { name, requestId }: { name: string; requestId: string },
  ): Promise<JobOutcome> {
    const job = await this.#findJob(app, name);
    return toOutcome(await job.begin(this.#options.deps.now(), requestId) ?? failRunning(name));
  }

  /** Reads the jobs again: of one app, or of all. */
  read(only?: { workspace: string; app: string }): void {
    // One after another, so that what was read first does not come last.
    this.#reading = this.#reading.then(() => this.#read(only))
      .catch(logFailure(this.#options.deps, 'read the jobs of hooks'));
  }

  /** Hears of a change in whatever process. */
  onChange(change: Change): void {
    if (change.kind === 'jobs') this.read(change);
    if (change.kind !== 'app' && change.kind !== 'workspace') return;
    for (const [schema, { path }] of [...this.#apps]) {
      const isMeant = change.kind === 'workspace' || change.app === path.app;
      if (isMeant && change.workspace === path.workspace) void this.#withHooks({ ...path, schema }, () => {});
    }
  }

  /** Ends every job of an app. */
  drop(schema: string): void {
    for (const job of this.#apps.get(schema)?.jobs.values() ?? []) job.stop();
    this.#apps.delete(schema);
  }

  /** Ends all of them. */
  close(): void {
    this.#isClosed = true;
    for (const schema of [...this.#apps.keys()]) this.drop(schema);
  }

  async #read(only: { workspace: string; app: string } | undefined): Promise<void> {
    if (this.#isClosed) return;
    const rows = await this.#options.deps.databases.control.run((sql) => listHookJobs(sql, only));
    const found = new Set(rows.map(({ schema }) => schema));
    for (const [schema, { path }] of [...this.#apps]) {
      const isMeant = only === undefined || (path.workspace === only.workspace && path.app === only.app);
      if (isMeant && !found.has(schema)) this.drop(schema);
    }
    if (rows.length === 0) return;
    const read = await this.#options.times.loadParser();
    if (this.#isClosed) return;
    for (const row of rows) await this.#update(row, read);
  }

  async #update({ workspace, app, schema, jobs }: AppJobs, read: ParseExpression): Promise<void> {
    const scheduled: AppSchedule = this.#apps.get(schema) ?? { path: { workspace, app }, jobs: new Map() };
    this.#apps.set(schema, scheduled);
    const names = new Set(jobs.map(({ name }) => name));
    for (const [name, job] of [...scheduled.jobs]) {
      if (names.has(name)) continue;
      job.stop();
      scheduled.jobs.delete(name);
    }
    for (const { name, expression } of jobs) {
      const job = scheduled.jobs.get(name) ?? this.#make({ workspace, app, schema, name });
      scheduled.jobs.set(name, job);
      try {
        job.reschedule(expression, read);
        if (job.due === null) await yieldToEventLoop();
        if (this.#apps.get(schema) !== scheduled) return;
      } catch (error) {
        // A runner that says what it should not; the other apps' jobs go on.
        const { observe } = this.#options.deps;
        observe({ type: 'background_failed', task: 'schedule a job of hooks', error: String(error) });
      }
    }
  }

  #make(job: JobOwner & { name: string }): CronJob<JobResult> {
    const { deps: { now }, newId } = this.#options;
    const { workspace, schema, name } = job;
    const run = async (due: Date, requestId = newId()) =>
      await this.#withHooks(job, (hooks) => runJob(hooks, { name, due, requestId })) ?? notRun;
    return new CronJob({
      now,
      run: (due, requestId) =>
        this.#turns.run(() => run(due, requestId), workspace, {
          client: schema,
          // Somebody waits for it.
          first: requestId !== undefined,
        }),
      onOverlap: (due) =>
        void this.#withHooks(job, ({ log }) => {
          const message = `job "${name}" has not ended: its run of ${due.toISOString()} is left out`;
          log.add({ level: 'warn', message });
        }),
    });
  }

  /** Finds a job by the files as they are now, whose change this process may not have been notified of. */
  async #findJob(app: AppDefinition, name: string): Promise<CronJob<JobResult>> {
    const hooks = this.#options.getHooks(app);
    await hooks.reload(false);
    const { jobs } = await hooks.loadRegistrations();
    if (!jobs.some((job) => job.name === name)) failNoJob(name);
    const find = () => this.#apps.get(app.schema)?.jobs.get(name);
    if (find() === undefined) {
      this.read(hooks.path);
      await this.#reading;
    }
    return find() ?? failNoJob(name);
  }

  /** Does something with the hooks of an app, and returns its result. Of an app that is gone, the jobs end. */
  async #withHooks<Result>(
    { workspace, app: id, schema }: JobOwner,
    work: (hooks: AppHooks) => Promise<Result> | Result,
  ): Promise<Result | undefined> {
    if (this.#isClosed) return undefined;
    const { findApp, getHooks, deps } = this.#options;
    try {
      const app = await findApp(workspace, id);
      if (app?.schema === schema) return await work(getHooks(app));
      this.drop(schema);
      await deps.databases.control.run((sql) => removeHookJobs(sql, schema));
    } catch (error) {
      deps.observe({ type: 'background_failed', task: 'run a job of hooks', error: String(error) });
    }
    return undefined;
  }
}

function failRunning(name: string): never {
  fail('conflict', `job ${JSON.stringify(name)} runs already`);
}
