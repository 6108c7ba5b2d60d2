// Counts the requests and hook runs of each app in memory, and adds them to the control database every few seconds.
import type { AppIdentity } from '../../storage/definition.ts';
import { type Activity, addActivity, deleteActivity } from '../../storage/control/usage.ts';
import type { Databases } from '../../storage/connections/databases.ts';
import { logFailure, type Observe } from '../logging/events.ts';

interface MeterDeps {
  databases: Databases;
  now: () => Date;
  observe: Observe;
}

/** Counts the use of apps. It neither throws nor waits. */
export interface Meter {
  request(app: AppIdentity): void;
  hookRun(app: AppIdentity): void;
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
  #flushing: Promise<void> | undefined;
  /** The hour in which old counts were last deleted. */
  #prunedHour = 0;

  constructor(deps: MeterDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => void this.#flushQuietly(), flushMs);
    this.#timer.unref();
  }

  request(app: AppIdentity): void {
    this.#count(app).requests++;
  }

  hookRun(app: AppIdentity): void {
    this.#count(app).hook_runs++;
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
    for (const [key, { requests, hook_runs, ...place }] of counts) {
      const since = this.#counts.get(key);
      this.#counts.set(key, {
        ...place,
        requests: requests + (since?.requests ?? 0),
        hook_runs: hook_runs + (since?.hook_runs ?? 0),
      });
    }
  }

  #flushQuietly(): Promise<void> {
    return this.flush().catch(logFailure(this.#deps, 'add up the use of apps'));
  }

  #count({ schema, workspace: { id: workspace, database } }: AppIdentity): Activity {
    const known = this.#counts.get(schema);
    if (known !== undefined) return known;
    const counts = { workspace, database, schema, requests: 0, hook_runs: 0 };
    this.#counts.set(schema, counts);
    return counts;
  }
}
