// Every connection of an API process: the control database, each workspace as its role, each app as its role.
import { availableParallelism } from 'node:os';
import type { Change } from '../control/changes.ts';
import { ChangeNotifier } from '../control/change-notifier.ts';
import { ownerRole } from '../sql/ids.ts';
import { LostConnections } from './lost-connections.ts';
import type { Client } from './client.ts';
import { Outage } from './outage.ts';
import { PermitCount, unlimitedPermits } from './permits.ts';
import { type Connection, type Endpoint, Pool, type Sql } from './pool.ts';
import { ConnectionNames } from './connection-names.ts';
import { isSocketFolder } from './driver/socket.ts';
import { Turns } from './connection-scheduler.ts';

/** How to reach PostgreSQL as the provisioner, and how the passwords of tenant roles are derived. */
export interface DatabasesOptions {
  /** The provisioner's endpoint; its `database` is the control database. */
  provisioner: Endpoint;
  /** Password of a tenant role, from the role's opaque name. */
  passwordOf: (role: string) => string;
  workspacePoolCap: number;
  appPoolCap: number;
  /** Connections that all tenant pools together may hold. */
  tenantConnections: number;
  now: () => number;
}

const idleMs = 30_000;
const sweepIntervalMs = 10_000;
/** A tenant that has asked nothing for so long can spare its connections rather than others one of several. */
const restingMs = 1_000;
const permitTimeoutMs = 2_000;
/** Tenants' statements end after 5 s (roles.ts), if there is still somebody to end them. */
const silenceTimeoutMs = 5_500;
/** So many have work at a server that shares our cores: enough for it never to wait for us. */
const turnsPerCore = 4;
const longestTurnMilliseconds = 4;
/** So many workspaces whose apps do all that they can have room side by side. */
const minWorkspaces = 4;
/** Longer than a statement takes: whoever asks beside those that take all of theirs still has its turn. */
const shareTimeoutMs = 10_000;
const controlConnections = 4;
const sessions = 2;
const ownConnectionTimeoutMs = 10_000;
const visits = 1;
/** Nobody waits for what visits do; one may be long. */
const visitTimeoutMs = 600_000;

/** Connections outside the tenants' budget that one process may hold: the control pool, sessions, a visit, the listener. */
export const ownConnections = controlConnections + sessions + visits + 1;

/** The pools of one API process. Tenant pools open lazily and share one budget of connections. */
export class Databases {
  /** The control database as the provisioner; apart from the tenants' budget, so that they cannot starve it. */
  readonly control: Pool;
  /** Those who may yet do what was asked of tenants' databases. */
  readonly lostConnections: LostConnections;
  readonly #herald: ChangeNotifier;
  readonly #options: DatabasesOptions;
  /** By database, then by role. */
  readonly #pools = new Map<string, Map<string, Pool>>();
  /** Of connections at work for all apps of one database. */
  readonly #shares = new Map<string, PermitCount>();
  readonly #mostAtWork: number;
  readonly #permits: PermitCount;
  readonly #sessionPermits = new PermitCount({ count: sessions, waitMilliseconds: ownConnectionTimeoutMs });
  readonly #visitPermits = new PermitCount({ count: visits, waitMilliseconds: visitTimeoutMs });
  readonly #outage = new Outage();
  readonly #sessions = new ConnectionNames();
  /** A server elsewhere has cores of its own, and each answer of it takes a while: nobody should wait for others' there. */
  readonly #turns: Turns<Client> | undefined;
  readonly #sweep: NodeJS.Timeout;

  constructor(options: DatabasesOptions) {
    this.#options = options;
    let share = Math.floor(options.tenantConnections / minWorkspaces);
    if (isSocketFolder(options.provisioner.host)) {
      const most = turnsPerCore * availableParallelism();
      this.#turns = new Turns({ most, longest: longestTurnMilliseconds });
      share = Math.min(share, most);
    }
    this.#mostAtWork = Math.max(share, options.appPoolCap);
    this.#permits = new PermitCount({
      count: options.tenantConnections,
      waitMilliseconds: permitTimeoutMs,
      reclaim: () => this.#reclaim(),
    });
    this.control = new Pool(options.provisioner, {
      cap: controlConnections,
      permits: unlimitedPermits,
      now: options.now,
      outage: this.#outage,
      silenceTimeoutMs: silenceTimeoutMs,
    });
    this.#herald = new ChangeNotifier(this.control);
    this.lostConnections = new LostConnections(this.control, this.#sessions);
    this.#sweep = setInterval(() => void this.#closeIdle(), sweepIntervalMs);
    this.#sweep.unref();
  }

  /** A workspace's database as the workspace's own role (users, sessions, its audit). */
  workspace(database: string): Pool {
    return this.#pool(database, database, this.#options.workspacePoolCap);
  }

  /** An app's schema as the role that reads and writes in it. The apps of a workspace share what they may have at work. */
  app(database: string, schema: string): Pool {
    return this.#pool(database, schema, this.#options.appPoolCap);
  }

  /** An app's schema as its owner: making and changing tables. */
  appOwner(database: string, schema: string): Pool {
    return this.#pool(database, ownerRole(schema), this.#options.appPoolCap);
  }

  /** Opens the connections that the first collection of an app and the first record in it will need. */
  warmApp(database: string, schema: string): void {
    void this.appOwner(database, schema).warm();
    void this.app(database, schema).warm();
  }

  /** A workspace's database as the provisioner: making and dropping apps, migrations. One connection. */
  provisioner(database: string): Pool {
    return this.#pool(database, this.#options.provisioner.username, 1);
  }

  /**
   * Work on the control database on a connection of its own, which is closed afterwards: for session-level locks and
   * for CREATE and DROP DATABASE, which must not hold up others. Throws `StorageError`.
   */
  async onOwnConnection<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    const { provisioner } = this.#options;
    return await this.#apart(provisioner, this.#sessionPermits, (connection) => connection.run(work));
  }

  /**
   * Work on a tenant's database as the provisioner on a connection of its own, outside the tenants' budget and closed
   * afterwards: for going through all databases, which must take no connection from tenants who use theirs. One at a time
   * in this process. Throws `StorageError`.
   */
  async visit(database: string, work: (connection: Connection) => Promise<void>): Promise<void> {
    await this.#apart({ ...this.#options.provisioner, database }, this.#visitPermits, work);
  }

  async #apart<Result>(
    endpoint: Endpoint,
    permits: PermitCount,
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> {
    const pool = new Pool(endpoint, { cap: 1, permits, now: this.#options.now, outage: this.#outage });
    try {
      return await work(pool);
    } finally {
      await pool.end();
    }
  }

  /** Tells every process of a change that is committed in a tenant's database: see `Herald`. Throws `StorageError`. */
  async notify(change: Change): Promise<void> {
    await this.#herald.notify(change);
  }

  /** Closes all pools of a database that is about to be dropped, or those of an app that is. */
  async closePools(database: string, schema?: string): Promise<void> {
    const pools = this.#pools.get(database) ?? new Map<string, Pool>();
    const gone = [...pools].filter(([name]) =>
      schema === undefined || name === schema || name === ownerRole(schema)
    );
    for (const [name] of gone) pools.delete(name);
    if (pools.size === 0) {
      this.#pools.delete(database);
      this.#shares.delete(database);
    }
    await Promise.all(gone.map(([, pool]) => pool.end()));
  }

  /** Lets what is in flight finish and closes everything. */
  async end(): Promise<void> {
    clearInterval(this.#sweep);
    this.#herald.close();
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
    const shared = { permits: this.#permits, outage: this.#outage, turns: this.#turns };
    const common = { cap, now, sessions: this.#sessions, ...shared };
    const own = { ...provisioner, database, username: role, password: passwordOf(role) };
    const share = role === database ? unlimitedPermits : this.#shareOf(database);
    // Dropping the schema of a large app takes as long as it takes.
    const pool = role === provisioner.username
      ? new Pool({ ...provisioner, database }, common)
      : new Pool(own, { ...common, silenceTimeoutMs: silenceTimeoutMs, share });
    const pools = this.#pools.get(database) ?? new Map<string, Pool>();
    this.#pools.set(database, pools.set(role, pool));
    return pool;
  }

  #shareOf(database: string): PermitCount {
    const known = this.#shares.get(database);
    if (known !== undefined) return known;
    const share = new PermitCount({ count: this.#mostAtWork, waitMilliseconds: shareTimeoutMs });
    this.#shares.set(database, share);
    return share;
  }

  *#tenantPools(): Generator<Pool> {
    for (const pools of this.#pools.values()) yield* pools.values();
  }

  /**
   * Frees a permit: from the pool that was idle longest, unless that is hardly idle; else from the one that holds most
   * connections. So each of as many tenants as there are connections comes to have one, and keeps it. Where there are
   * more tenants than that, one after the other gives its only connection up, at the pace that the permits set.
   */
  #reclaim(): void {
    let calmest: Pool | undefined;
    let largest: Pool | undefined;
    for (const pool of this.#tenantPools()) {
      if (pool.size === 0) continue;
      if (calmest === undefined || isCalmer(pool, calmest)) calmest = pool;
      if (largest === undefined || pool.size > largest.size) largest = pool;
    }
    if (calmest === undefined || largest === undefined) return;
    const restingSince = this.#options.now() - restingMs;
    if (calmest.inFlight === 0 && calmest.idleSince <= restingSince) void calmest.closeIdle(0);
    else if (largest.size > 1) largest.retireOne();
    else if (this.#permits.pressing) calmest.retireOne();
  }

  /** Pools themselves are kept: whoever holds one may open a connection in it at any time. */
  async #closeIdle(): Promise<void> {
    for (const pool of this.#tenantPools()) await pool.closeIdle(idleMs);
  }
}

function isCalmer(one: Pool, other: Pool): boolean {
  const difference = one.inFlight - other.inFlight;
  return difference < 0 || difference === 0 && one.idleSince < other.idleSince;
}
