// Connections to one database as one role: several single-connection clients with our own least-busy pick,
// because a stock pool slows down without end while more requests are in flight than connections
// (porsager/postgres issue 747).
import postgres from 'postgres';
import { StorageError, translate } from './errors.ts';
import type { Permits } from './permits.ts';
import { textArrayType } from './text-array.ts';

/** What runs SQL: a connection or an open transaction. Every storage function takes one first. */
export type Sql = postgres.ISql;

/** A piece of a statement, made by the `sql` tag. It is a thenable: never return one from an async function. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>;

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

interface Client {
  sql: postgres.Sql;
  inFlight: number;
  /** Open transactions: statements put on this client would wait for their end. */
  transactions: number;
  idleSince: number;
  /** Takes no new work, and is closed as soon as it has none. */
  retired: boolean;
}

const reconnectSeconds = 0.1;

/**
 * A pool of at most `cap` connections to one endpoint, opened when first needed. Work inside `transaction` must use
 * the `sql` it was given, never the pool: with all connections in transactions it would wait for itself.
 */
export class Pool implements Connection {
  readonly endpoint: Endpoint;
  readonly #cap: number;
  readonly #permits: Permits;
  readonly #now: () => number;
  #clients: Client[] = [];
  #opening: Promise<void> | undefined;
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

  /**
   * Opens a connection ahead of the first statement, when that is possible without waiting for a permit. A failure is
   * nobody's: whoever needs the connection meets it again, and can answer for it.
   */
  async warm(): Promise<void> {
    if (this.#clients.length > 0 || this.#ended || !this.#permits.tryTake()) return;
    const client = this.#open();
    client.inFlight++;
    await Promise.allSettled([client.sql`select`]);
    this.#release(client);
  }

  /** Closes connections that nobody has used for `milliseconds`. */
  async closeIdle(milliseconds: number): Promise<void> {
    const before = this.#now() - milliseconds;
    const idle = this.#clients.filter((client) => client.inFlight === 0 && client.idleSince <= before);
    if (idle.length === 0) return;
    this.#clients = this.#clients.filter((client) => !idle.includes(client));
    await Promise.all(idle.map((client) => this.#close(client)));
  }

  /** Gives one of several connections up, as soon as what it has in flight is answered. */
  retireOne(): void {
    const [first, ...others] = this.#clients;
    if (first === undefined || others.length === 0) return;
    this.#retire(others.reduce((least, client) => weight(client) < weight(least) ? client : least, first));
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
    if (client.inFlight > 0) return;
    if (client.retired) void this.#close(client);
    else if (this.#permits.wanted) this.#retire(client);
  }

  #retire(client: Client): void {
    const rest = this.#clients.filter((other) => other !== client);
    if (rest.length === this.#clients.length) return;
    this.#clients = rest;
    client.retired = true;
    if (client.inFlight === 0) void this.#close(client);
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

  /** All who come while the first connection waits for its permit wait for the same one. */
  async #firstClient(): Promise<Client> {
    for (;;) {
      if (this.#ended) throw new StorageError('unavailable', 'the database connection is closed');
      const client = this.#leastBusy();
      if (client !== undefined) return client;
      this.#opening ??= this.#openFirst().finally(() => this.#opening = undefined);
      await this.#opening;
    }
  }

  async #openFirst(): Promise<void> {
    await this.#permits.take();
    if (this.#ended) this.#permits.give();
    else this.#open();
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
        types: { textArray: textArrayType },
        onnotice: () => undefined,
        connection: {
          // Visible to every role of the cluster (pg_stat_activity), so it says nothing.
          application_name: 'bulkhead',
          // The quoted empty name: nothing is found without its schema, so no tenant's object can be met by accident.
          search_path: '""',
          // Instants come back as one text, whatever the server's own settings.
          TimeZone: 'UTC',
          DateStyle: 'ISO, YMD',
        },
      }),
      inFlight: 0,
      transactions: 0,
      idleSince: this.#now(),
      retired: false,
    };
    this.#clients.push(client);
    return client;
  }
}

function weight(client: Client): number {
  return client.inFlight + client.transactions * 1_000;
}
