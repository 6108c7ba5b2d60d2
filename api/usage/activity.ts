// How much each app is used: counted in memory, added to the control database every few seconds.
import type { AppIdentity } from '../../storage/definition.ts';
import { type Activity, addActivity, deleteActivity } from '../../storage/control/usage.ts';
import type { Databases } from '../../storage/connections/databases.ts';
import { logFailure, type Observe } from '../logging/events.ts';

interface MeterDeps {
  databases: Databases;
  now: () => Date;
  observe: Observe;
}

/** What counts the use of apps. Never throws, never waits. */
export interface Meter {
  request(app: AppIdentity): void;
  hookRun(app: AppIdentity): void;
}

const hourMs = 3_600_000;
const flushMs = 5_000;

/** Beginning of the hour that counts as 24 hours ago: the present one and the 23 before it are kept. */
export function beginningOfDay(now: Date): Date {
  return new Date(hourOf(now).getTime() - 24 * hourMs);
}

function hourOf(now: Date): Date {
  return new Date(Math.floor(now.getTime() / hourMs) * hourMs);
}

/** Counts by the hour in which they are added, not in which they happened: a few seconds apart at most. */
export class ActivityMeter implements Meter {
  readonly #deps: MeterDeps;
  readonly #timer: NodeJS.Timeout;
  #counts = new Map<string, Activity>();
  #flushing: Promise<void> | undefined;
  #forgottenAt = 0;

  constructor(deps: MeterDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => void this.#flushQuietly(), flushMs);
    this.#timer.unref();
  }

  request(app: AppIdentity): void {
    this.#of(app).requests++;
  }

  hookRun(app: AppIdentity): void {
    this.#of(app).hook_runs++;
  }

  /** Adds what was counted in this process so far. Throws `StorageError`; what was counted is kept for the next time then. */
  async flush(): Promise<void> {
    // What is being added is not all that was counted by now.
    await this.#flushing;
    this.#flushing ??= this.#add().finally(() => this.#flushing = undefined);
    await this.#flushing;
  }

  /** Adds the last of it. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flushQuietly();
  }

  async #add(): Promise<void> {
    if (this.#counts.size === 0) return;
    const { databases: { control }, now } = this.#deps;
    const hour = hourOf(now());
    const counts = this.#counts;
    this.#counts = new Map();
    try {
      await control.run((sql) => addActivity(sql, hour, [...counts.values()]));
    } catch (error) {
      this.#takeBack(counts);
      throw error;
    }
    if (this.#forgottenAt === hour.getTime()) return;
    this.#forgottenAt = hour.getTime();
    await control.run((sql) => deleteActivity(sql, beginningOfDay(hour)));
  }

  #takeBack(counts: ReadonlyMap<string, Activity>): void {
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

  #of({ schema, workspace: { id: workspace, database } }: AppIdentity): Activity {
    const known = this.#counts.get(schema);
    if (known !== undefined) return known;
    const counts = { workspace, database, schema, requests: 0, hook_runs: 0 };
    this.#counts.set(schema, counts);
    return counts;
  }
}
