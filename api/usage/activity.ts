// Counts the requests and hook runs of each app in memory, and adds them to the control database every few seconds.
import type { AppIdentity } from '../../storage/definition.ts';
import { type Activity, addActivity, deleteActivity } from '../../storage/control/usage.ts';
import type { Databases } from '../../storage/connections/databases.ts';
import { logFailure, type Observe } from '../logging/events.ts';

interface MeterDeps {
  databases: Databases;
  now: () => Date;
  observe: Observe;
  /** Called at the first request for a workspace in a few seconds, for two workspaces at most. */
  onActive?: (workspace: string) => void;
}

/** Counts the use of apps. It neither throws nor waits. */
export interface Meter {
  request(app: AppIdentity): void;
  hookRun(app: AppIdentity): void;
  /** CPU time of hooks, in milliseconds. */
  hookCpu(app: AppIdentity, milliseconds: number): void;
}

const hourMs = 3_600_000;
const flushMs = 5_000;

/** The end of the hour before the last 24: the current hour and the 23 before it are kept. */
export function beginningOfDay(now: Date): Date {
  return new Date(startOfHour(now).getTime() - 24 * hourMs);
}

function startOfHour(now: Date): Date {
  return new Date(Math.floor(now.getTime() / hourMs) * hourMs);
}

/** The counts of one process. They belong to the hour in which they are flushed, a few seconds after the event. */
export class ActivityMeter implements Meter {
  readonly #deps: MeterDeps;
  readonly #timer: NodeJS.Timeout;
  #counts = new Map<string, Activity>();
  readonly #active = new Set<string>();
  #flushing: Promise<void> | undefined;
  /** The hour in which old counts were last deleted. */
  #prunedHour = 0;

  constructor(deps: MeterDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => {
      this.#active.clear();
      void this.#flushQuietly();
    }, flushMs);
    this.#timer.unref();
  }

  request(app: AppIdentity): void {
    this.#count(app).requests++;
    this.#noteActive(app.workspace.id);
  }

  hookRun(app: AppIdentity): void {
    this.#count(app).hook_runs++;
  }

  hookCpu(app: AppIdentity, milliseconds: number): void {
    this.#count(app).hook_cpu_ms += milliseconds;
  }

  /** Two are enough to know of each workspace whether another one is active. */
  #noteActive(workspace: string): void {
    if (this.#active.size >= 2 || this.#active.has(workspace)) return;
    this.#active.add(workspace);
    this.#deps.onActive?.(workspace);
  }

  /** Adds the counts so far to the database. Throws `StorageError`, and keeps the counts for the next time. */
  async flush(): Promise<void> {
    // A flush that is under way does not add the latest counts.
    await this.#flushing;
    this.#flushing ??= this.#add().finally(() => this.#flushing = undefined);
    await this.#flushing;
  }

  /** Stops, after a last flush. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flushQuietly();
  }

  async #add(): Promise<void> {
    if (this.#counts.size === 0) return;
    const { databases: { control }, now } = this.#deps;
    const hour = startOfHour(now());
    const counts = this.#counts;
    this.#counts = new Map();
    try {
      await control.run((sql) => addActivity(sql, hour, [...counts.values()]));
    } catch (error) {
      this.#restore(counts);
      throw error;
    }
    if (this.#prunedHour === hour.getTime()) return;
    this.#prunedHour = hour.getTime();
    await control.run((sql) => deleteActivity(sql, beginningOfDay(hour)));
  }

  #restore(counts: ReadonlyMap<string, Activity>): void {
    for (const [key, { requests, hook_runs, hook_cpu_ms, ...place }] of counts) {
      const since = this.#counts.get(key);
      this.#counts.set(key, {
        ...place,
        requests: requests + (since?.requests ?? 0),
        hook_runs: hook_runs + (since?.hook_runs ?? 0),
        hook_cpu_ms: hook_cpu_ms + (since?.hook_cpu_ms ?? 0),
      });
    }
  }

  #flushQuietly(): Promise<void> {
    return this.flush().catch(logFailure(this.#deps, 'add up the use of apps'));
  }

  #count({ schema, workspace: { id: workspace, database } }: AppIdentity): Activity {
    const known = this.#counts.get(schema);
    if (known !== undefined) return known;
    const counts = { workspace, database, schema, requests: 0, hook_runs: 0, hook_cpu_ms: 0 };
    this.#counts.set(schema, counts);
    return counts;
  }
}
