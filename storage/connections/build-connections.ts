// Connections for what takes minutes on an app's tables: an index of a large one, built beside the writes to it.
import { FairQueue } from '../concurrency/fair-queue.ts';
import { ownerRole } from '../sql/ids.ts';
import type { Outage } from './outage.ts';
import type { Permits } from './permits.ts';
import { type Connection, type Endpoint, Pool } from './pool.ts';

/** The time that a change has to build its indexes, in milliseconds. */
export const buildTimeoutMs = 600_000;
/** Each build keeps a core and the disk busy. */
const maxBuilds = 2;
/** A change that waits holds a connection of its workspace, and may be tried again. */
const maxWaitMs = 2_000;

const settings = {
  statement_timeout: String(buildTimeoutMs),
  lock_timeout: '0',
  transaction_timeout: '0',
  max_parallel_maintenance_workers: '0',
  // Otherwise PostgreSQL would go on for a process that was killed.
  client_connection_check_interval: '1000',
};

/** How to connect as the owners of apps' schemas. */
interface BuildOptions {
  provisioner: Endpoint;
  passwordOf: (role: string) => string;
  now: () => number;
}

/** The builds of one process: two at once, and one for each workspace. */
export class BuildConnections {
  readonly #options: BuildOptions;
  readonly #shared: { permits: Permits; outage: Outage };
  readonly #queue = new FairQueue({ slots: maxBuilds, perOwner: 1, timeoutMs: maxWaitMs });

  /** `shared` is that of the tenants' connections. */
  constructor(options: BuildOptions, shared: { permits: Permits; outage: Outage }) {
    this.#options = options;
    this.#shared = shared;
  }

  /**
   * Does work as the owner of an app's schema, on a connection that is closed afterwards. Throws `StorageError`, and
   * `QueueRefusal` while others build.
   */
  async run(
    { database, schema }: { database: string; schema: string },
    work: (connection: Connection) => Promise<void>,
  ): Promise<void> {
    const { provisioner, passwordOf, now } = this.#options;
    const username = ownerRole(schema);
    const endpoint = { ...provisioner, settings, database, username, password: passwordOf(username) };
    await this.#queue.run(async () => {
      const silenceTimeoutMs = buildTimeoutMs + 1_000;
      const pool = new Pool(endpoint, { cap: 1, now, silenceTimeoutMs, ...this.#shared });
      try {
        await work(pool);
      } finally {
        await pool.end();
      }
    }, database);
  }
}
