// The connections of an API process: the control database, each workspace as its role, each app as its role.
import { availableParallelism } from 'node:os';
import type { Change } from '../control/changes.ts';
import { ChangeNotifier } from '../control/change-notifier.ts';
import { ownerRole } from '../sql/ids.ts';
import { LostConnections } from './lost-connections.ts';
import type { Client } from './client.ts';
import { Outage } from './outage.ts';
import { OwnConnections, singleConnections } from './own-connections.ts';
import { PermitCount, unlimitedPermits } from './permits.ts';
import { type Connection, type Endpoint, Pool, type Sql } from './pool.ts';
import { ConnectionNames, unboundedSettings } from './connection-names.ts';
import { isSocketFolder } from './driver/socket.ts';
import { ConnectionScheduler } from './connection-scheduler.ts';
import { WorkShares } from './shares/work-shares.ts';

/** How to reach PostgreSQL as the provisioner, and how to derive the passwords of tenant roles. */
export interface DatabasesOptions {
  /** The provisioner's endpoint. Its `database` is the control database. */
  provisioner: Endpoint;
  /** The password of a tenant role, derived from the role's opaque name. */
  passwordOf: (role: string) => string;
  workspacePoolCap: number;
  appPoolCap: number;
  /** Connections that all tenant pools together may hold. */
  tenantConnections: number;
  /** Called with the database of a workspace whose statements have to wait, since slow ones have its share. */
  onSlow?: (database: string) => void;
  now: () => number;
}

const idleMs = 30_000;
const sweepIntervalMs = 10_000;
/** After this time without a statement, a tenant's connections are taken before one of several of another tenant. */
const restingMs = 1_000;
const permitTimeoutMs = 2_000;
/** The server ends tenants' statements after 5 s (roles.ts), if it still runs. */
const silenceTimeoutMs = 5_500;
/** Connections with work in flight, for each core of a server on this machine: enough to keep it busy. */
const turnsPerCore = 4;
const maxTurnMs = 4;
/** This many workspaces can have all their apps' connections at work side by side. */
const minWorkspaces = 4;
const controlConnections = 4;

/** Connections of a process outside the tenants' budget: control pool, those for single pieces of work, change listener. */
export const ownConnections = controlConnections + singleConnections + 1;

/** The pools of one API process. Tenant pools open lazily and share one budget of connections. */
export class Databases {
  /** The control database as the provisioner. It has connections of its own, so that tenants cannot starve it. */
  readonly control: Pool;
  /** Lost connections whose work in tenants' databases may still be done. */
  readonly lostConnections: LostConnections;
  readonly #changeNotifier: ChangeNotifier;
  readonly #options: DatabasesOptions;
  /** By database, then by role. */
  readonly #pools = new Map<string, Map<string, Pool>>();
  /** The share of connections at work, for all apps of one database. */
  readonly #shares: WorkShares;
  readonly #permits: PermitCount;
  readonly #own: OwnConnections;
  readonly #outage = new Outage();
  readonly #connectionNames = new ConnectionNames();
  /** Undefined for a server elsewhere: it has cores of its own, and waiting here would add to its slow responses. */
  readonly #scheduler: ConnectionScheduler<Client> | undefined;
  readonly #sweep: NodeJS.Timeout;

  constructor(options: DatabasesOptions) {
    this.#options = options;
    let share = Math.floor(options.tenantConnections / minWorkspaces);
    if (isSocketFolder(options.provisioner.host)) {
      const maxAtOnce = turnsPerCore * availableParallelism();
      this.#scheduler = new ConnectionScheduler({ slots: maxAtOnce, maxTurnMs });
      share = Math.min(share, maxAtOnce);
    }
    this.#shares = new WorkShares(Math.max(share, options.appPoolCap), options.onSlow);
    const { provisioner, passwordOf, now } = options;
    this.#own = new OwnConnections({ provisioner, passwordOf, now, outage: this.#outage });
    this.#permits = new PermitCount({
      count: options.tenantConnections,
      timeoutMs: permitTimeoutMs,
      reclaim: () => this.#reclaim(),
    });
    this.control = new Pool(options.provisioner, {
      cap: controlConnections,
      permits: unlimitedPermits,
      now: options.now,
      outage: this.#outage,
      silenceTimeoutMs,
    });
    this.#changeNotifier = new ChangeNotifier(this.control);
    this.lostConnections = new LostConnections(this.control, this.#connectionNames);
    this.#sweep = setInterval(() => void this.#closeIdle(), sweepIntervalMs);
    this.#sweep.unref();
  }

  /** A workspace's database as the workspace's own role (users, sessions, its audit). */
  workspace(database: string): Pool {
    this.#shares.note(database);
    return this.#pool(database, database, this.#options.workspacePoolCap);
  }

  /** An app's schema as the role that reads and writes in it. The apps of a workspace share connections at work. */
  app(database: string, schema: string): Pool {
    this.#shares.note(database);
    return this.#pool(database, schema, this.#options.appPoolCap);
  }

  /** An app's schema as its owner, which makes and alters tables. */
  appOwner(database: string, schema: string): Pool {
    return this.#pool(database, ownerRole(schema), this.#options.appPoolCap);
  }

  /** Opens the connections that the first collection of an app and the first record in it will need. */
  warmApp(database: string, schema: string): void {
    void this.appOwner(database, schema).warm();
    void this.app(database, schema).warm();
  }

  /** A workspace's database as the provisioner, which makes and drops apps and migrates. One connection. */
  provisioner(database: string): Pool {
    return this.#pool(database, this.#options.provisioner.username, 1);
  }

  /**
   * Does work on the control database on a connection of its own, which is closed afterwards: for session-level locks,
   * and for CREATE and DROP DATABASE, which must not block others. Throws `StorageError`.
   */
  async onOwnConnection<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return await this.#own.control((connection) => connection.run(work));
  }

  /**
   * Does work on a tenant's database as the provisioner on a connection of its own, outside the tenants' budget and
   * closed afterwards: for work on all databases, which must take no connection from active tenants. One at a time in
   * this process. Throws `StorageError`.
   */
  async visit(database: string, work: (connection: Connection) => Promise<void>): Promise<void> {
    await this.#own.visit(database, work);
  }

  /**
   * Does work as an app's owner on a connection of its own, which may take minutes: building indexes. One at a time in
   * this process. Throws `StorageError`.
   */
  async build<Result>(
    app: { database: string; schema: string },
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> {
    return await this.#own.build(app, work);
  }

  /** Notifies every process of a change committed in a tenant's database: see `ChangeNotifier`. Throws `StorageError`. */
  async notify(change: Change): Promise<void> {
    await this.#changeNotifier.notify(change);
  }

  /** Closes all connections to a database, once their work has ended: new ones have its present settings. */
  renew(database: string): void {
    for (const pool of this.#pools.get(database)?.values() ?? []) {
      for (let left = pool.size; left > 0; left--) pool.retireOne();
    }
  }

  /** Closes all pools of a database that is about to be dropped, or those of an app that is. */
  async closePools(database: string, schema?: string): Promise<void> {
    const pools = this.#pools.get(database) ?? new Map<string, Pool>();
    const closed = [...pools].filter(([name]) =>
      schema === undefined || name === schema || name === ownerRole(schema)
    );
    for (const [name] of closed) pools.delete(name);
    if (pools.size === 0) {
      this.#pools.delete(database);
      this.#shares.delete(database);
    }
    await Promise.all(closed.map(([, pool]) => pool.end()));
  }

  /** Lets everything in flight finish, then closes all connections. */
  async end(): Promise<void> {
    clearInterval(this.#sweep);
    this.#changeNotifier.close();
    this.lostConnections.close();
    const pools = [...this.#tenantPools()];
    this.#pools.clear();
    await Promise.all([...pools, this.control].map((pool) => pool.end()));
  }

  #pool(database: string, role: string, cap: number): Pool {
    return this.#pools.get(database)?.get(role) ?? this.#make(database, role, cap);
  }

  #make(database: string, role: string, cap: number): Pool {
    const { provisioner, passwordOf, now } = this.#options;
    const shared = { permits: this.#permits, outage: this.#outage, scheduler: this.#scheduler };
    const common = { cap, now, connectionNames: this.#connectionNames, ...shared };
    const own = { ...provisioner, database, username: role, password: passwordOf(role) };
    const share = role === database ? {} : this.#shares.of(database);
    // No limit of silence: dropping the schema of a large app may take long.
    const pool = role === provisioner.username
      ? new Pool({ ...provisioner, settings: unboundedSettings, database }, common)
      : new Pool(own, { ...common, silenceTimeoutMs, share });
    const pools = this.#pools.get(database) ?? new Map<string, Pool>();
    this.#pools.set(database, pools.set(role, pool));
    return pool;
  }

  *#tenantPools(): Generator<Pool> {
    for (const pools of this.#pools.values()) yield* pools.values();
  }

  /**
   * Frees a permit: from the pool that was idle longest, unless it was used just now; else from the pool with most
   * connections. So each of as many tenants as there are connections gets one, and keeps it. With more tenants than
   * connections, one after the other gives up its only connection, at the pace that the permits set.
   */
  #reclaim(): void {
    let idlest: Pool | undefined;
    let largest: Pool | undefined;
    for (const pool of this.#tenantPools()) {
      if (pool.size === 0) continue;
      if (idlest === undefined || isIdler(pool, idlest)) idlest = pool;
      if (largest === undefined || pool.size > largest.size) largest = pool;
    }
    if (idlest === undefined || largest === undefined) return;
    const restingSince = this.#options.now() - restingMs;
    if (idlest.inFlight === 0 && idlest.idleSince <= restingSince) void idlest.closeIdle(0);
    else if (largest.size > 1) largest.retireOne();
    else if (this.#permits.pressing) idlest.retireOne();
  }

  /** The pools themselves stay: a caller that holds one may open a connection in it at any time. */
  async #closeIdle(): Promise<void> {
    for (const pool of this.#tenantPools()) await pool.closeIdle(idleMs);
  }
}

function isIdler(one: Pool, other: Pool): boolean {
  const difference = one.inFlight - other.inFlight;
  return difference < 0 || difference === 0 && one.idleSince < other.idleSince;
}
