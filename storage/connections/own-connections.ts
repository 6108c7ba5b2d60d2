// Connections that are opened for one piece of work and closed after it, outside the budget of tenants.
import { ownerRole } from '../sql/ids.ts';
import { unboundedSettings } from './connection-names.ts';
import type { Outage } from './outage.ts';
import { PermitCount } from './permits.ts';
import { type Connection, type Endpoint, Pool } from './pool.ts';

/** How to open them. */
export interface OwnConnectionsOptions {
  /** The provisioner's endpoint. Its `database` is the control database. */
  provisioner: Endpoint;
  passwordOf: (role: string) => string;
  now: () => number;
  outage: Outage;
}

const sessionConnections = 2;
const ownConnectionTimeoutMs = 10_000;
const visitConnections = 1;
/** No request waits for visits, and one may take long. */
const visitTimeoutMs = 600_000;
const buildConnections = 1;
/** A request waits, for a build of another app that may take long. */
const buildTimeoutMs = 5_000;

/** The connections that a process may have open for single pieces of work. */
export const singleConnections = sessionConnections + visitConnections + buildConnections;

/** Building an index waits for transactions that have begun before, and reads the table twice. */
const buildSettings = {
  ...unboundedSettings,
  statement_timeout: '10min',
  lock_timeout: '2min',
};

/** Opens connections for single pieces of work, a few at once. */
export class OwnConnections {
  readonly #options: OwnConnectionsOptions;
  readonly #sessions = new PermitCount({ count: sessionConnections, timeoutMs: ownConnectionTimeoutMs });
  readonly #visits = new PermitCount({ count: visitConnections, timeoutMs: visitTimeoutMs });
  readonly #builds = new PermitCount({ count: buildConnections, timeoutMs: buildTimeoutMs });

  constructor(options: OwnConnectionsOptions) {
    this.#options = options;
  }

  /** Does work on the control database as the provisioner. Throws `StorageError`. */
  async control<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
    return await this.#open(this.#options.provisioner, this.#sessions, work);
  }

  /** Does work on a tenant's database as the provisioner, one after another. Throws `StorageError`. */
  async visit(database: string, work: (connection: Connection) => Promise<void>): Promise<void> {
    const endpoint = { ...this.#options.provisioner, settings: unboundedSettings, database };
    await this.#open(endpoint, this.#visits, work);
  }

  /** Does work as the owner of an app's schema, one after another. Throws `StorageError`. */
  async build<Result>(
    { database, schema }: { database: string; schema: string },
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> {
    const { provisioner, passwordOf } = this.#options;
    const username = ownerRole(schema);
    const own = {
      ...provisioner,
      database,
      username,
      password: passwordOf(username),
      settings: buildSettings,
    };
    return await this.#open(own, this.#builds, work);
  }

  async #open<Result>(
    endpoint: Endpoint,
    permits: PermitCount,
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> {
    const { now, outage } = this.#options;
    const pool = new Pool(endpoint, { cap: 1, permits, now, outage });
    try {
      return await work(pool);
    } finally {
      await pool.end();
    }
  }
}
