// Connections to one database as one role: several clients with a single connection each, of which the least busy is
// chosen. The driver's own pool slows down without end while more statements are in flight than it has connections
// (porsager/postgres issue 747).
import type postgres from 'postgres';
import { Client, type Login, type ServerOptions } from './client.ts';
import { isDenied, isStaleStatement, StorageError, translate } from '../errors.ts';
import { GrowthPause } from './growth-pause.ts';
import { Outage } from './outage.ts';
import { leastBusy } from './least-busy.ts';
import { DrainingConnections } from './draining.ts';
import { type Permits, unlimitedPermits } from './permits.ts';
import { StatementCost } from './shares/statement-cost.ts';
import type { WorkShare } from './shares/work-shares.ts';

/** Runs SQL: a connection or an open transaction. Every storage function takes one as its first parameter. */
export type Sql = postgres.ISql;

/** A piece of a statement, made by the `sql` tag. It is a thenable: never return one from an async function. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>;

/** The address of a server, and the database and role to connect as. */
export type Endpoint = Login;

/** Work on one database as one role. */
export interface Connection {
  /** Runs statements outside a transaction. Throws `StorageError`. */
  run<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /** Runs statements in one transaction; throwing rolls it back. `silenceTimeoutMs`: see `Client`. Throws `StorageError`. */
  transaction<Result>(work: (sql: Sql) => Promise<Result>, silenceTimeoutMs?: number): Promise<Result>;
}

/**
 * A pool of at most `cap` connections to one endpoint, opened when first needed. Work inside `transaction` must use the
 * `sql` that it gets, never the pool: with all connections in transactions it would wait for itself.
 */
export class Pool implements Connection {
  readonly endpoint: Endpoint;
  readonly #cap: number;
  readonly #permits: Permits;
  readonly #share: Permits;
  readonly #cost: StatementCost;
  readonly #now: () => number;
  readonly #serverOptions: ServerOptions;
  #clients: Client[] = [];
  readonly #draining: DrainingConnections;
  #admission: Promise<Client> | undefined;
  readonly #growthPause = new GrowthPause();
  #ended = false;
  #ending: Promise<void> | undefined;

  /** `permits` are for open connections, `share` is of the connections at work. */
  constructor(
    endpoint: Endpoint,
    { cap, permits, share = {}, now, outage = new Outage(), ...serverOptions }:
      & { cap: number; permits: Permits; share?: Partial<WorkShare>; now: () => number }
      & Partial<ServerOptions>,
  ) {
    this.endpoint = endpoint;
    this.#cap = cap;
    this.#permits = permits;
    this.#share = share.permits ?? unlimitedPermits;
    this.#cost = share.cost ?? new StatementCost();
    this.#draining = new DrainingConnections(permits);
    this.#now = now;
    this.#serverOptions = { outage, ...serverOptions };
  }

  /** Connections that take work, busy or not. */
  get size(): number {
    return this.#clients.length;
  }

  /** Statements and transactions that have no response yet. */
  get inFlight(): number {
    return this.#clients.reduce((sum, client) => sum + client.inFlight, 0);
  }

  /** The time of the pool's last use, in milliseconds. Pools are closed in its order. */
  get idleSince(): number {
    return this.#clients.reduce((latest, client) => Math.max(latest, client.idleSince), 0);
  }

  run<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.#withClient((client) => client.run((sql) => this.#cost.measure(client, () => work(sql))));
  }

  transaction<Result>(work: (sql: Sql) => Promise<Result>, silenceTimeoutMs?: number): Promise<Result> {
    return this.#withClient((client) => client.transaction(work, silenceTimeoutMs));
  }

  async #withClient<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    for (;;) {
      const client = this.#take() ?? await this.#takeWhenAdmitted();
      try {
        return await work(client);
      } catch (error) {
        const isRefused = this.#growthPause.wasRefused(client, error);
        if (isRefused) void this.#retire(client);
        // Nothing was sent on it, so another connection can do the work.
        if (isRefused && this.#clients.some(({ isAdmitted }) => isAdmitted)) continue;
        throw await this.#explain(client, error);
      } finally {
        this.#release(client);
      }
    }
  }

  /** Opens a connection ahead of the first statement, if no permit has to be waited for. The statement meets errors again. */
  async warm(): Promise<void> {
    if (this.#clients.length > 0 || this.#admission !== undefined || this.#ended) return;
    const client = this.#tryOpen();
    if (client === undefined) return;
    client.inFlight++;
    await Promise.allSettled([client.run((sql) => sql`select`)]);
    this.#release(client);
  }

  /** Closes connections that were not used for so many milliseconds. */
  async closeIdle(milliseconds: number): Promise<void> {
    const before = this.#now() - milliseconds;
    const idle = this.#clients.filter((client) => client.inFlight === 0 && client.idleSince <= before);
    await Promise.all(idle.map((client) => this.#retire(client)));
  }

  /** Closes a connection as soon as nothing is in flight on it. */
  retireOne(): void {
    const least = leastBusy(this.#clients);
    if (least !== undefined) void this.#retire(least);
  }

  /** Refuses new work, lets what is in flight finish (5 s), closes every connection. */
  end(): Promise<void> {
    this.#ended = true;
    for (const client of [...this.#clients]) void this.#retire(client);
    return this.#ending ??= this.#draining.end();
  }

  #release(client: Client): void {
    client.inFlight--;
    client.idleSince = this.#now();
    const isDone = client.inFlight === 0;
    if (isDone) this.#endWork(client);
    if (!this.#draining.has(client)) {
      const canSpare = this.#permits.wanted && (this.#clients.length > 1 || this.#permits.pressing);
      if (client.prepared.isFull || (isDone && canSpare)) void this.#retire(client);
    } else if (isDone) void this.#draining.close(client);
  }

  async #retire(client: Client): Promise<void> {
    if (!this.#clients.includes(client)) return;
    this.#clients = this.#clients.filter((other) => other !== client);
    if (client.inFlight === 0) this.#endWork(client);
    await this.#draining.add(client);
  }

  #drop(client: Client): void {
    this.#endWork(client);
    if (this.#clients.includes(client)) {
      this.#clients = this.#clients.filter((other) => other !== client);
      this.#permits.give();
    } else this.#draining.drop(client);
  }

  /** A connection outlives its role for a moment when the tenant is removed. Without a role it has no rights. */
  async #explain(client: Client, error: unknown): Promise<unknown> {
    // Its prepared statements are of the tables as they were. A new connection has none.
    if (isStaleStatement(error)) void this.#retire(client);
    if (!isDenied(error) || await client.hasRole()) return translate(error);
    void this.#retire(client);
    return new StorageError('undefined', 'the role of this connection is gone', { cause: error });
  }

  /** A client for the next work. `admitted` comes first while it is idle: it holds a share, and another needs a second. */
  #take(admitted?: Client): Client | undefined {
    const known = this.#clients.find((client) => client === admitted);
    const isHeld = known?.isAtWork === true && known.inFlight === 0;
    const taken = isHeld ? known : this.#choose() ?? known;
    if (taken !== undefined) taken.inFlight++;
    return taken;
  }

  /**
   * An idle client; else a new one, if cap, share and permits allow; else the client at work with the least ahead of
   * it. None while others wait for their share: adding to our own work would keep it from them.
   */
  #choose(): Client | undefined {
    const least = leastBusy(this.#clients);
    if (least?.inFlight === 0 && (least.isAtWork ||= this.#share.tryTake())) return least;
    if (least === undefined || this.#share.wanted) return undefined;
    const mayGrow = this.#clients.length < this.#cap && !this.#growthPause.isPaused;
    const added = mayGrow ? this.#tryOpen() : undefined;
    return added ?? (least.isAtWork ? least : leastBusy(this.#clients.filter(({ isAtWork }) => isAtWork)));
  }

  /** All callers that come while one waits for share and permit wait for the same ones. */
  async #takeWhenAdmitted(): Promise<Client> {
    for (;;) {
      if (this.#ended) throw closed();
      const admitted = await (this.#admission ??= this.#admit().finally(() => this.#admission = undefined));
      const client = this.#take(admitted);
      if (client !== undefined) return client;
    }
  }

  /** Waits for a share, and returns the client to use. A client that is at work already needs no share. */
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
      ...this.#serverOptions,
    });
    client.isAtWork = true;
    this.#clients.push(client);
    return client;
  }
}

const closed = () => new StorageError('unavailable', 'the database connection is closed');
