// Connections to one database as one role: several single-connection clients with our own least-busy pick,
// because a stock pool slows down without end while more requests are in flight than connections
// (porsager/postgres issue 747).
import type postgres from 'postgres';
import { Client, type Login, type ServerOptions } from './client.ts';
import { isDenied, isStaleStatement, StorageError, translate } from '../errors.ts';
import { GrowthPause } from './growth-pause.ts';
import { Outage } from './outage.ts';
import { leastBusy } from './least-busy.ts';
import { DrainingConnections } from './draining.ts';
import { type Permits, unlimitedPermits } from './permits.ts';

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

/**
 * A pool of at most `cap` connections to one endpoint, opened when first needed. Work inside `transaction` must use
 * the `sql` it was given, never the pool: with all connections in transactions it would wait for itself.
 */
export class Pool implements Connection {
  readonly endpoint: Endpoint;
  readonly #cap: number;
  readonly #permits: Permits;
  readonly #share: Permits;
  readonly #now: () => number;
  readonly #terms: ServerOptions;
  #clients: Client[] = [];
  readonly #leaving: DrainingConnections;
  #admission: Promise<Client> | undefined;
  readonly #growth = new GrowthPause();
  #ended = false;
  #ending: Promise<void> | undefined;

  /** `share` is of connections at work, where `permits` is of open ones. */
  constructor(
    endpoint: Endpoint,
    { cap, permits, share = unlimitedPermits, now, outage = new Outage(), ...terms }:
      & { cap: number; permits: Permits; share?: Permits; now: () => number }
      & Partial<ServerOptions>,
  ) {
    this.endpoint = endpoint;
    this.#cap = cap;
    this.#permits = permits;
    this.#share = share;
    this.#leaving = new DrainingConnections(permits);
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

  run<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.#withClient((client) => client.run(work));
  }

  transaction<Result>(work: (sql: Sql) => Promise<Result>, patience?: number): Promise<Result> {
    return this.#withClient((client) => client.transaction(work, patience));
  }

  async #withClient<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    for (;;) {
      const client = this.#take() ?? await this.#takeInTurn();
      try {
        return await work(client);
      } catch (error) {
        const isRefused = this.#growth.wasRefused(client, error);
        if (isRefused) void this.#retire(client);
        // Nothing was asked on it, so the others can do it.
        if (isRefused && this.#clients.some(({ isAdmitted }) => isAdmitted)) continue;
        throw await this.#explain(client, error);
      } finally {
        this.#release(client);
      }
    }
  }

  /**
   * Opens a connection ahead of the first statement, when that is possible without waiting for a permit. A failure is
   * nobody's: whoever needs the connection meets it again, and can answer for it.
   */
  async warm(): Promise<void> {
    if (this.#clients.length > 0 || this.#admission !== undefined || this.#ended) return;
    const client = this.#tryOpen();
    if (client === undefined) return;
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
    const least = leastBusy(this.#clients);
    if (least !== undefined) void this.#retire(least);
  }

  /** Refuses new work, lets what is in flight finish (5 s), closes every connection. */
  end(): Promise<void> {
    this.#ended = true;
    for (const client of [...this.#clients]) void this.#retire(client);
    return this.#ending ??= this.#leaving.end();
  }

  #release(client: Client): void {
    client.inFlight--;
    client.idleSince = this.#now();
    const isDone = client.inFlight === 0;
    if (isDone) this.#endWork(client);
    if (!this.#leaving.has(client)) {
      const spares = this.#permits.wanted && (this.#clients.length > 1 || this.#permits.pressing);
      if (client.prepared.isFull || (isDone && spares)) void this.#retire(client);
    } else if (isDone) void this.#leaving.close(client);
  }

  async #retire(client: Client): Promise<void> {
    if (!this.#clients.includes(client)) return;
    this.#clients = this.#clients.filter((other) => other !== client);
    if (client.inFlight === 0) this.#endWork(client);
    await this.#leaving.add(client);
  }

  #drop(client: Client): void {
    this.#endWork(client);
    if (this.#clients.includes(client)) {
      this.#clients = this.#clients.filter((other) => other !== client);
      this.#permits.give();
    } else this.#leaving.drop(client);
  }

  /** A connection outlives its role for a moment, when the tenant is removed: without a role it has no rights. */
  async #explain(client: Client, error: unknown): Promise<unknown> {
    // Its prepared statements are of tables as they were; a new connection has none.
    if (isStaleStatement(error)) void this.#retire(client);
    if (!isDenied(error) || await client.hasRole()) return translate(error);
    void this.#retire(client);
    return new StorageError('undefined', 'the role of this connection is gone', { cause: error });
  }

  /** `admitted` comes first where it still has nothing to do: it holds a share, which another would take once more. */
  #take(admitted?: Client): Client | undefined {
    const known = this.#clients.find((client) => client === admitted);
    const isHeld = known?.isAtWork === true && known.inFlight === 0;
    const taken = isHeld ? known : this.#choose() ?? known;
    if (taken !== undefined) taken.inFlight++;
    return taken;
  }

  /**
   * An idle client, else a new one while cap, share and permits allow, else the one at work that has least ahead of it. None
   * while others wait for their share of the work: to go on adding to ours would keep it from them.
   */
  #choose(): Client | undefined {
    const least = leastBusy(this.#clients);
    if (least?.inFlight === 0 && (least.isAtWork ||= this.#share.tryTake())) return least;
    if (least === undefined || this.#share.wanted) return undefined;
    const mayGrow = this.#clients.length < this.#cap && !this.#growth.isPaused;
    const added = mayGrow ? this.#tryOpen() : undefined;
    return added ?? (least.isAtWork ? least : leastBusy(this.#clients.filter(({ isAtWork }) => isAtWork)));
  }

  /** All who come while somebody waits for share and permit wait for the same ones. */
  async #takeInTurn(): Promise<Client> {
    for (;;) {
      if (this.#ended) throw closed();
      const admitted = await (this.#admission ??= this.#admit().finally(() => this.#admission = undefined));
      const client = this.#take(admitted);
      if (client !== undefined) return client;
    }
  }

  /** Waits for a share of the work, and answers who is to do it: somebody who has work already needs none. */
  async #admit(): Promise<Client> {
    await this.#share.take();
    const least = leastBusy(this.#clients);
    if (least !== undefined) {
      if (least.inFlight > 0) this.#share.give();
      else least.isAtWork = true;
      return least;
    }
    try {
      await this.#permits.take();
      if (!this.#ended) return this.#open();
      this.#permits.give();
      throw closed();
    } catch (error) {
      this.#share.give();
      throw error;
    }
  }

  #tryOpen(): Client | undefined {
    if (!this.#share.tryTake()) return undefined;
    if (this.#permits.tryTake()) return this.#open();
    this.#share.give();
    return undefined;
  }

  #endWork(client: Client): void {
    if (!client.isAtWork) return;
    client.isAtWork = false;
    this.#share.give();
  }

  #open(): Client {
    const client: Client = new Client(this.endpoint, {
      now: this.#now(),
      onLost: () => this.#drop(client),
      ...this.#terms,
    });
    client.isAtWork = true;
    this.#clients.push(client);
    return client;
  }
}

const closed = () => new StorageError('unavailable', 'the database connection is closed');
