// Connections to one database as one role: several single-connection clients with our own least-busy pick,
// because a stock pool slows down without end while more requests are in flight than connections
// (porsager/postgres issue 747).
import postgres from 'postgres';
import { StorageError, translate } from './errors.ts';

/** What runs SQL: a connection or an open transaction. Every storage function takes one first. */
export type Sql = postgres.ISql;

/** Work on one database as one role. */
export interface Connection {
  /** Runs statements outside a transaction. Throws `StorageError`. */
  run<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /** Runs statements in one transaction; throwing rolls it back. Throws `StorageError`. */
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
}

/** Where and as whom to connect. */
export interface Endpoint {
  host: string;
  port: number;
  ssl: 'disable' | 'prefer' | 'require' | 'verify-full';
  database: string;
  username: string;
  password: string;
}

/** Counts connections over all pools, so that their sum stays below the server's `max_connections`. */
export interface Permits {
  /** Takes one at once, or says that there is none. */
  tryTake(): boolean;
  /** Takes one, waiting at most 2 s. Throws `StorageError` `unavailable`. */
  take(): Promise<void>;
  give(): void;
}

interface Client {
  sql: postgres.Sql;
  inFlight: number;
  /** Open transactions: statements put on this client would wait for their end. */
  transactions: number;
  idleSince: number;
}

const reconnectSeconds = 0.1;

/** A pool of at most `cap` connections to one endpoint, opened when first needed. */
export class Pool implements Connection {
  readonly endpoint: Endpoint;
  readonly #cap: number;
  readonly #permits: Permits;
  readonly #now: () => number;
  #clients: Client[] = [];
  #ended = false;

  constructor(endpoint: Endpoint, options: { cap: number; permits: Permits; now: () => number }) {
    this.endpoint = endpoint;
    this.#cap = options.cap;
    this.#permits = options.permits;
    this.#now = options.now;
  }

  /** Connections held, busy or not. */
  get size(): number {
    return this.#clients.length;
  }

  /** Statements and transactions that have not been answered yet. */
  get inFlight(): number {
    return this.#clients.reduce((sum, client) => sum + client.inFlight, 0);
  }

  /** When the pool was last used, in milliseconds; for the least-recently-used order of closing. */
  get idleSince(): number {
    return this.#clients.reduce((latest, client) => Math.max(latest, client.idleSince), 0);
  }

  async run<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    const client = this.#leastBusy() ?? await this.#firstClient();
    client.inFlight++;
    try {
      return await work(client.sql);
    } catch (error) {
      throw translate(error);
    } finally {
      this.#release(client);
    }
  }

  async transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    const client = this.#leastBusy() ?? await this.#firstClient();
    client.inFlight++;
    client.transactions++;
    try {
      return await client.sql.begin((sql) => work(sql)) as Result;
    } catch (error) {
      throw translate(error);
    } finally {
      client.transactions--;
      this.#release(client);
    }
  }

  /** Closes connections that nobody has used for `milliseconds`. */
  async closeIdle(milliseconds: number): Promise<void> {
    const before = this.#now() - milliseconds;
    const idle = this.#clients.filter((client) => client.inFlight === 0 && client.idleSince <= before);
    if (idle.length === 0) return;
    this.#clients = this.#clients.filter((client) => !idle.includes(client));
    await Promise.all(idle.map((client) => this.#close(client)));
  }

  /** Refuses new work, lets what is in flight finish (5 s), closes every connection. */
  async end(): Promise<void> {
    this.#ended = true;
    const clients = this.#clients;
    this.#clients = [];
    await Promise.all(clients.map((client) => this.#close(client)));
  }

  async #close(client: Client): Promise<void> {
    try {
      await client.sql.end({ timeout: 5 });
    } finally {
      this.#permits.give();
    }
  }

  #release(client: Client): void {
    client.inFlight--;
    client.idleSince = this.#now();
  }

  /** An idle client, else a new one while cap and permits allow, else the one with the least work ahead of it. */
  #leastBusy(): Client | undefined {
    let best: Client | undefined;
    for (const client of this.#clients) {
      if (client.inFlight === 0) return client;
      if (best === undefined || weight(client) < weight(best)) best = client;
    }
    if (best === undefined) return undefined;
    if (this.#clients.length < this.#cap && this.#permits.tryTake()) return this.#open();
    return best;
  }

  async #firstClient(): Promise<Client> {
    await this.#permits.take();
    if (this.#ended) {
      this.#permits.give();
      throw new StorageError('unavailable', 'the database connection is closed');
    }
    return this.#open();
  }

  #open(): Client {
    const { host, port, ssl, database, username, password } = this.endpoint;
    const client: Client = {
      sql: postgres({
        host,
        port,
        ssl: ssl === 'disable' ? false : ssl,
        database,
        username,
        password,
        max: 1,
        idle_timeout: 0,
        max_lifetime: null,
        connect_timeout: 5,
        // A server that comes back is found at once; the stock back-off grows to 20 s.
        backoff: () => reconnectSeconds,
        fetch_types: false,
        onnotice: () => undefined,
        // Visible to every role of the cluster (pg_stat_activity), so it says nothing.
        connection: { application_name: 'bulkhead' },
      }),
      inFlight: 0,
      transactions: 0,
      idleSince: this.#now(),
    };
    this.#clients.push(client);
    return client;
  }
}

function weight(client: Client): number {
  return client.inFlight + client.transactions * 1_000;
}
