// The sessions of one process with its database server: what each is set to, and names by which they are told from others.
import { randomBytes } from 'node:crypto';

const word = 'bulkhead';
/** What the names begin with, and those of no other sessions. */
export const namePrefix = `${word} `;

/** What a session is set to. Every role of the cluster can read its name (pg_stat_activity), which says nothing. */
export function connectionSettings(name = word) {
  return {
    application_name: name,
    // The quoted empty name: nothing is found without its schema, so no tenant's object can be met by accident.
    search_path: '""',
    // Instants come back as one text, whatever the server's own settings.
    TimeZone: 'UTC',
    DateStyle: 'ISO, YMD',
  };
}

/** Names of the sessions that answers may come from. */
export class ConnectionNames {
  readonly #names = new Set<string>();

  /** Names one that begins. */
  begin(): string {
    const name = namePrefix + randomBytes(8).toString('hex');
    this.#names.add(name);
    return name;
  }

  /** Nobody may hear any more how what was asked in it ends. */
  end(name: string | undefined): void {
    if (name !== undefined) this.#names.delete(name);
  }

  /** Whether it has begun and not ended. */
  has(name: string): boolean {
    return this.#names.has(name);
  }
}
