// Sessions of which nobody hears any more, as of a process that was killed or of a connection that was given up: what was asked
// in them may yet be done.
import { setTimeout as pause } from 'node:timers/promises';
import type { Connection, Sql } from './pool.ts';
import { type ConnectionNames, namePrefix } from './connection-names.ts';

const checkIntervalMs = 500;

/** Somebody who waits, and for which sessions: undefined until these have been looked for. */
interface Waiting {
  resolve: () => void;
  names: ReadonlySet<string> | undefined;
}

/** Finds out when there are none, for a process that has its server to itself. */
export class LostConnections {
  readonly #control: Connection;
  readonly #sessions: ConnectionNames;
  #waiting: Waiting[] = [];
  #isLooking = false;
  #closed = false;

  constructor(control: Connection, sessions: ConnectionNames) {
    this.#control = control;
    this.#sessions = sessions;
  }

  /**
   * Resolves once all that were there by now have ended. No time will do: a process that is stopped, or waits for a disk, does
   * what it was asked when it goes on.
   */
  whenEnded(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ resolve, names: undefined });
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
      const found = await this.#control.run((sql) => this.#find(sql)).catch(() => undefined);
      const left = found === undefined ? waiting : waiting.filter((one) => !haveEnded(one, found));
      this.#waiting.push(...left);
      if (left.length > 0) await pause(checkIntervalMs, undefined, { ref: false });
    }
    // At once: who has been told that they are gone may ask again before anything else is done.
    this.#isLooking = false;
  }

  /** PostgreSQL lists a session until its transaction has ended. */
  async #find(sql: Sql): Promise<ReadonlySet<string>> {
    const sessions = await sql<{ name: string }[]>`
      select application_name as name from pg_catalog.pg_stat_activity
      where datname <> current_database() and starts_with(application_name, ${namePrefix})`;
    return new Set(sessions.map(({ name }) => name).filter((name) => !this.#sessions.has(name)));
  }
}

/**
 * Tells who waits when they are. It waits for none that came later: where tenants take each other's connections, some session
 * is on its way out at every look.
 */
function haveEnded(waiting: Waiting, found: ReadonlySet<string>): boolean {
  waiting.names = waiting.names?.intersection(found) ?? found;
  if (waiting.names.size > 0) return false;
  waiting.resolve();
  return true;
}
