// Connections to one database as one role: several single-connection clients with our own least-busy pick,
// because a stock pool slows down without end while more requests are in flight than connections
// (porsager/postgres issue 747).
import type postgres from 'postgres';
import { Client, type Login, type ServerTerms } from './client.ts';
import { isDenied, isStaleStatement, StorageError, translate } from '../errors.ts';
import { Outage } from './outage.ts';
import type { Permits } from './permits.ts';

/** What runs SQL: a connection or an open transaction. Every storage function takes one first. */
export type Sql = postgres.ISql;

/** A piece of a statement, made by the `sql` tag. It is a thenable: never return one from an async function. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>;

/** Where and as whom to connect. */
export type Endpoint = Login;

/** Work on one database as one role. */
export interface Connection {
  /** Runs statements outside a transaction. Throws `StorageError`. */
  run<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /** Runs statements in one transaction; throwing rolls it back. `patience`: see `Client`. Throws `StorageError`. */
  transaction<Result>(work: (sql: Sql) => Promise<Result>, patience?: number): Promise<Result>;
}

const closeSeconds = 5;

/**
 * A pool of at most `cap` connections to one endpoint, opened when first needed. Work inside `transaction` must use
 * the `sql` it was given, never the pool: with all connections in transactions it would wait for itself.
 */
export class Pool implements Connection {
  readonly endpoint: Endpoint;
  readonly #cap: number;
  readonly #permits: Permits;
  readonly #now: () => number;
  readonly #terms: ServerTerms;
  #clients: Client[] = [];
  /** Clients that take no new work and are closed as soon as they have none. */
  readonly #retired = new Set<Client>();
  /** Those of them that are being closed. */
  readonly #closing = new Set<Client>();
  #opening: Promise<void> | undefined;
  #ended = false;
  #ending: Promise<void> | undefined;
  #whenEmpty: (() => void) | undefined;

  constructor(
    endpoint: Endpoint,
    { cap, permits, now, outage = new Outage(), ...terms }:
      & { cap: number; permits: Permits; now: () => number }
      & Partial<ServerTerms>,
  ) {
    this.endpoint = endpoint;
    this.#cap = cap;
    this.#permits = permits;
    this.#now = now;
    this.#terms = { outage, ...terms };
  }

  /** Connections that take work, busy or not. */
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
    const client = this.#take() ?? await this.#takeFirst();
    try {
      return await client.run(work);
    } catch (error) {
      // Its prepared statements are of tables as they were; a new connection has none.
      if (isStaleStatement(error)) void this.#retire(client);
      throw await this.#explain(client, error);
    } finally {
      this.#release(client);
    }
  }

  async transaction<Result>(work: (sql: Sql) => Promise<Result>, patience?: number): Promise<Result> {
    const client = this.#take() ?? await this.#takeFirst();
    client.transactions++;
    try {
      return await client.transaction(work, patience);
    } catch (error) {
      throw await this.#explain(client, error);
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
    if (this.#clients.length > 0 || this.#opening !== undefined || this.#ended || !this.#permits.tryTake()) {
      return;
    }
    const client = this.#open();
    client.inFlight++;
    await Promise.allSettled([client.run((sql) => sql`select`)]);
    this.#release(client);
  }

  /** Closes connections that nobody has used for `milliseconds`. */
  async closeIdle(milliseconds: number): Promise<void> {
    const before = this.#now() - milliseconds;
    const idle = this.#clients.filter((client) => client.inFlight === 0 && client.idleSince <= before);
    await Promise.all(idle.map((client) => this.#retire(client)));
  }

  /** Gives a connection up, as soon as what it has in flight is answered. */
  retireOne(): void {
    const [first, ...others] = this.#clients;
    if (first === undefined) return;
    void this.#retire(
      others.reduce((least, client) => weight(client) < weight(least) ? client : least, first),
    );
  }

  /** Refuses new work, lets what is in flight finish (5 s), closes every connection. */
  end(): Promise<void> {
    this.#ended = true;
    return this.#ending ??= this.#closeAll();
  }

  async #closeAll(): Promise<void> {
    for (const client of [...this.#clients]) void this.#retire(client);
    if (this.#retired.size === 0) return;
    const patience = setTimeout(() => {
      for (const client of this.#retired) void this.#close(client, 0);
    }, closeSeconds * 1_000);
    await new Promise<void>((resolve) => this.#whenEmpty = resolve);
    clearTimeout(patience);
  }

  #release(client: Client): void {
    client.inFlight--;
    client.idleSince = this.#now();
    const isDone = client.inFlight === 0;
    if (!this.#retired.has(client)) {
      if (client.prepared.isFull || (isDone && this.#maySpareOne())) void this.#retire(client);
    } else if (isDone) void this.#close(client, closeSeconds);
  }

  #maySpareOne(): boolean {
    return this.#permits.wanted && (this.#clients.length > 1 || this.#permits.pressing);
  }

  async #retire(client: Client): Promise<void> {
    if (!this.#clients.includes(client)) return;
    this.#clients = this.#clients.filter((other) => other !== client);
    this.#retired.add(client);
    if (client.inFlight === 0) await this.#close(client, closeSeconds);
  }

  async #close(client: Client, seconds: number): Promise<void> {
    if (this.#retired.has(client) && !this.#closing.has(client)) {
      this.#closing.add(client);
      this.#permits.promise();
    }
    await client.close(seconds);
    this.#drop(client);
  }

  /** The connection is gone: its permit is free, once. */
  #drop(client: Client): void {
    const known = this.#clients.includes(client);
    if (known) this.#clients = this.#clients.filter((other) => other !== client);
    if (known || this.#retired.delete(client)) {
      this.#permits.give({ promised: this.#closing.delete(client) });
    }
    if (this.#retired.size === 0) this.#whenEmpty?.();
  }

  /** A connection outlives its role for a moment, when the tenant is removed: without a role it has no rights. */
  async #explain(client: Client, error: unknown): Promise<unknown> {
    if (!isDenied(error) || await client.hasRole()) return translate(error);
    void this.#retire(client);
    return new StorageError('undefined', 'the role of this connection is gone', { cause: error });
  }

  /** An idle client, else a new one while cap and permits allow, else the one with the least work ahead of it. */
  #take(): Client | undefined {
    let best: Client | undefined;
    for (const client of this.#clients) {
      if (best === undefined || weight(client) < weight(best)) best = client;
      if (best.inFlight === 0) break;
    }
    if (best === undefined) return undefined;
    const mayGrow = best.inFlight > 0 && this.#clients.length < this.#cap && this.#permits.tryTake();
    const taken = mayGrow ? this.#open() : best;
    taken.inFlight++;
    return taken;
  }

  /** All who come while the first connection waits for its permit wait for the same one. */
  async #takeFirst(): Promise<Client> {
    for (;;) {
      if (this.#ended) throw new StorageError('unavailable', 'the database connection is closed');
      const client = this.#take();
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
    const client: Client = new Client(this.endpoint, {
      now: this.#now(),
      onLost: () => this.#drop(client),
      ...this.#terms,
    });
    this.#clients.push(client);
    return client;
  }
}

function weight(client: Client): number {
  return client.inFlight + client.transactions * 1_000;
}
