// Connections that nothing waits on any more, of a killed process or given up here. What was sent on them may still be
// done.
import { setTimeout as pause } from 'node:timers/promises';
import type { Connection, Sql } from './pool.ts';
import { type ConnectionNames, namePrefix } from './connection-names.ts';

const checkIntervalMs = 500;

/** A waiter, and the connections that it waits for: undefined until the first check. */
interface Waiting {
  resolve: () => void;
  names: ReadonlySet<string> | undefined;
}

/** Finds out when there are none left, for a process that has its server to itself. */
export class LostConnections {
  readonly #control: Connection;
  readonly #connectionNames: ConnectionNames;
  #waiting: Waiting[] = [];
  #isChecking = false;
  #closed = false;

  constructor(control: Connection, connections: ConnectionNames) {
    this.#control = control;
    this.#connectionNames = connections;
  }

  /**
   * Resolves once all that are there by now have ended. A timeout would not do: a process that is stopped, or waits for
   * a disk, does its work when it goes on.
   */
  whenEnded(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ resolve, names: undefined });
    if (!this.#isChecking) void this.#check();
    return promise;
  }

  /** Stops checking. */
  close(): void {
    this.#closed = true;
  }

  async #check(): Promise<void> {
    this.#isChecking = true;
    while (this.#waiting.length > 0 && !this.#closed) {
      const waiting = this.#waiting;
      this.#waiting = [];
      const found = await this.#control.run((sql) => this.#find(sql)).catch(() => undefined);
      const left = found === undefined ? waiting : waiting.filter((one) => !haveEnded(one, found));
      this.#waiting.push(...left);
      if (left.length > 0) await pause(checkIntervalMs, undefined, { ref: false });
    }
    // Set at once: a caller that was just resolved may wait again before anything else runs.
    this.#isChecking = false;
  }

  /** PostgreSQL lists a connection until its transaction has ended. */
  async #find(sql: Sql): Promise<ReadonlySet<string>> {
    const connections = await sql<{ name: string }[]>`
      select application_name as name from pg_catalog.pg_stat_activity
      where datname <> current_database() and starts_with(application_name, ${namePrefix})`;
    return new Set(connections.map(({ name }) => name).filter((name) => !this.#connectionNames.has(name)));
  }
}

/**
 * Resolves a waiter when its connections have ended. It does not wait for later ones: where tenants take each other's
 * connections, some connection is always about to end.
 */
function haveEnded(waiting: Waiting, found: ReadonlySet<string>): boolean {
  waiting.names = waiting.names?.intersection(found) ?? found;
  if (waiting.names.size > 0) return false;
  waiting.resolve();
  return true;
}
