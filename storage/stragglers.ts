// Sessions of which nobody hears any more, as of a process that was killed or of a connection that was given up: what was asked
// in them may yet be done.
import { setTimeout as pause } from 'node:timers/promises';
import type { Connection, Sql } from './connections/pool.ts';
import { namePrefix, type Sessions } from './connections/sessions.ts';

const lookMilliseconds = 500;

/** Finds out when there are none, for a process that has its server to itself. */
export class Stragglers {
  readonly #control: Connection;
  readonly #sessions: Sessions;
  #waiting: (() => void)[] = [];
  #isLooking = false;
  #closed = false;

  constructor(control: Connection, sessions: Sessions) {
    this.#control = control;
    this.#sessions = sessions;
  }

  /**
   * Resolves once all that were there by now have ended. No time will do: a process that is stopped, or waits for a disk, does
   * what it was asked when it goes on.
   */
  gone(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    if (!this.#isLooking) void this.#look();
    return promise;
  }

  /** Stops looking. */
  close(): void {
    this.#closed = true;
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    while (this.#waiting.length > 0 && !this.#closed) {
      const waiting = this.#waiting;
      this.#waiting = [];
      const areGone = await this.#control.run((sql) => this.#areGone(sql)).catch(() => false);
      if (areGone) { for (const resolve of waiting) resolve(); }
      else {
        this.#waiting.push(...waiting);
        await pause(lookMilliseconds, undefined, { ref: false });
      }
    }
    // At once: who has been told that they are gone may ask again before anything else is done.
    this.#isLooking = false;
  }

  /** PostgreSQL lists a session until its transaction has ended. */
  async #areGone(sql: Sql): Promise<boolean> {
    const sessions = await sql<{ name: string }[]>`
      select application_name as name from pg_catalog.pg_stat_activity
      where datname <> current_database() and starts_with(application_name, ${namePrefix})`;
    return sessions.every(({ name }) => this.#sessions.has(name));
  }
}
