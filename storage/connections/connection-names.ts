// The names of this process's connections, by which the server tells them apart, and their settings.
import { randomBytes } from 'node:crypto';

const product = 'bulkhead';
/** The beginning of all names, and of the names of no other connections. */
export const namePrefix = `${product} `;

/**
 * The settings of a connection. Every role of the cluster can read its name (pg_stat_activity), so the name is random.
 */
export function connectionSettings(name = product) {
  return {
    application_name: name,
    // The quoted empty name: nothing is found without its schema, so no statement reaches a tenant's object by
    // accident.
    search_path: '""',
    // Instants come back in one text form, whatever the server's own settings.
    TimeZone: 'UTC',
    DateStyle: 'ISO, YMD',
  };
}

/** Lift the timeouts that a tenant's database has: a provisioner's transaction may take long. */
export const unboundedSettings = {
  statement_timeout: '0',
  lock_timeout: '0',
  transaction_timeout: '0',
  idle_in_transaction_session_timeout: '0',
};

/** The names of the open connections, whose responses may still come. */
export class ConnectionNames {
  readonly #names = new Set<string>();

  /** Names a connection that is opened. */
  begin(): string {
    const name = namePrefix + randomBytes(8).toString('hex');
    this.#names.add(name);
    return name;
  }

  /** Ends a name: no response to what was sent under it can come any more. */
  end(name: string | undefined): void {
    if (name !== undefined) this.#names.delete(name);
  }

  /** True while the connection of this name is open. */
  has(name: string): boolean {
    return this.#names.has(name);
  }
}
