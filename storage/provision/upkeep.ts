// The background worker of a process: it makes the next apps of workspaces, reaps, then keeps a few workspace databases ready. Requests never wait for it.
import { currentVersions, type Provisioning } from './cluster.ts';
import { makeDatabase, refillSpareApp } from './database.ts';
import { reap } from './reaper.ts';
import { countSpares } from '../control/tenant-databases.ts';

/** Options of the worker. */
export interface UpkeepOptions {
  provisioning: Provisioning;
  /** The number of workspace databases that are kept ready. */
  spares: number;
  removeBlobs: (database: string) => Promise<void>;
  onReaped: (database: string) => void;
  onFailure: (error: unknown) => void;
}

const soonMs = 250;
const firstRetryMs = 500;
const maxRetryMs = 30_000;

/** Rounds of reaping and refilling, one at a time. A failed round is tried again after a pause. */
export class Upkeep {
  readonly #options: UpkeepOptions;
  #round: Promise<void> | undefined;
  #again = false;
  #retry: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #pause = firstRetryMs;
  #stopped = false;
  /** Databases of workspaces whose spare app was taken. */
  readonly #withoutApp = new Set<string>();

  constructor(options: UpkeepOptions) {
    this.#options = options;
  }

  /** Starts a round, now or soon. Refilling right after a spare was taken would compete with the request that took it. */
  poke(when: 'now' | 'soon' = 'now'): void {
    if (this.#stopped) return;
    if (when === 'soon') {
      this.#soon ??= setTimeout(() => this.poke(), soonMs);
      return;
    }
    clearTimeout(this.#soon);
    this.#soon = undefined;
    if (this.#round !== undefined) {
      this.#again = true;
      return;
    }
    clearTimeout(this.#retry);
    this.#round = this.#work().finally(() => {
      this.#round = undefined;
      if (this.#again) {
        this.#again = false;
        this.poke();
      }
    });
  }

  /** Makes the next app of a workspace soon, as the one that was ready is taken. */
  refillApp(database: string): void {
    this.#withoutApp.add(database);
    this.poke('soon');
  }

  /** Waits until nothing is left to do, or a round has failed. */
  async settled(): Promise<void> {
    if (this.#soon !== undefined) this.poke();
    while (this.#round !== undefined) await this.#round;
  }

  /** Lets the current step finish and does nothing more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#soon);
    this.#soon = undefined;
    clearTimeout(this.#retry);
    await this.settled();
  }

  async #work(): Promise<void> {
    const { provisioning: { databases }, removeBlobs, onReaped } = this.#options;
    // Before the reaper, which leaves a database alone that an app is being made in.
    for (const database of this.#withoutApp) {
      this.#withoutApp.delete(database);
      // Whoever wants an app where this failed makes it then.
      if (!this.#stopped) await this.#succeeds(refillSpareApp(this.#options.provisioning, database));
    }
    const reaped = await this.#succeeds(reap({ databases, removeBlobs, onReaped }));
    const refilled = await this.#succeeds(this.#refill());
    if (reaped && refilled) {
      this.#pause = firstRetryMs;
      return;
    }
    this.#retry = setTimeout(() => this.poke(), this.#pause);
    this.#retry.unref();
    this.#pause = Math.min(this.#pause * 2, maxRetryMs);
  }

  async #succeeds(work: Promise<void>): Promise<boolean> {
    try {
      await work;
      return true;
    } catch (error) {
      this.#options.onFailure(error);
      return false;
    }
  }

  async #refill(): Promise<void> {
    const { provisioning, spares } = this.#options;
    const versions = currentVersions(provisioning.migrations);
    while (!this.#stopped) {
      const ready = await provisioning.databases.control.run((sql) => countSpares(sql, versions));
      if (ready >= spares) return;
      const name = await makeDatabase(provisioning);
      // Making it has opened a connection. Until a workspace takes it, it should hold none.
      await provisioning.databases.provisioner(name).closeIdle(0);
    }
  }
}
