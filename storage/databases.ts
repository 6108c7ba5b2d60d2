// Every connection of an API process: the control database, each workspace as its role, each app as its role.
import { PermitCount, unlimited } from './permits.ts';
import { type Endpoint, Pool, type Sql } from './pool.ts';

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

const idleMilliseconds = 30_000;
const sweepMilliseconds = 10_000;
/** A tenant that has asked nothing for so long can spare its connections rather than others one of several. */
const restingMilliseconds = 1_000;
const permitWaitMilliseconds = 2_000;
const controlConnections = 4;
const sessions = 2;
const sessionWaitMilliseconds = 10_000;

/** Connections outside the tenants' budget that one process may hold: the control pool, sessions, the listener. */
export const ownConnections = controlConnections + sessions + 1;

/** The pools of one API process. Tenant pools open lazily and share one budget of connections. */
export class Databases {
  /** The control database as the provisioner; apart from the tenants' budget, so that they cannot starve it. */
  readonly control: Pool;
  readonly #options: DatabasesOptions;
  readonly #pools = new Map<string, Pool>();
  readonly #permits: PermitCount;
  readonly #sessionPermits = new PermitCount({ count: sessions, waitMilliseconds: sessionWaitMilliseconds });
  readonly #sweep: NodeJS.Timeout;

  constructor(options: DatabasesOptions) {
    this.#options = options;
    this.#permits = new PermitCount({
      count: options.tenantConnections,
      waitMilliseconds: permitWaitMilliseconds,
      reclaim: () => this.#reclaim(),
    });
    this.control = new Pool(options.provisioner, {
      cap: controlConnections,
      permits: unlimited,
      now: options.now,
    });
    this.#sweep = setInterval(() => void this.#closeIdle(), sweepMilliseconds);
    this.#sweep.unref();
  }

  /** A workspace's database as the workspace's own role (users, sessions, its audit). */
  workspace(database: string): Pool {
    return this.#pool(database, database, this.#options.workspacePoolCap);
  }

  /** An app's schema as the app's own role. */
  app(database: string, role: string): Pool {
    return this.#pool(database, role, this.#options.appPoolCap);
  }

  /** A workspace's database as the provisioner: making and dropping apps, migrations. One connection. */
  provisioner(database: string): Pool {
    return this.#pool(database, this.#options.provisioner.username, 1);
  }

  /**
   * Work on the control database on a connection of its own, which is closed afterwards: for session-level locks and
   * for CREATE and DROP DATABASE, which must not hold up others. Throws `StorageError`.
   */
  async session<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    const { provisioner, now } = this.#options;
    const pool = new Pool(provisioner, { cap: 1, permits: this.#sessionPermits, now });
    try {
      return await pool.run(work);
    } finally {
      await pool.end();
    }
  }

  /** Closes all pools of a database that is about to be dropped, or the pool of one role that is. */
  async forget(database: string, role?: string): Promise<void> {
    const gone = [...this.#pools].filter(([, { endpoint }]) =>
      endpoint.database === database && (role === undefined || endpoint.username === role)
    );
    for (const [key] of gone) this.#pools.delete(key);
    await Promise.all(gone.map(([, pool]) => pool.end()));
  }

  /** Lets what is in flight finish and closes everything. */
  async end(): Promise<void> {
    clearInterval(this.#sweep);
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all([...pools, this.control].map((pool) => pool.end()));
  }

  #pool(database: string, role: string, cap: number): Pool {
    const key = `${database}/${role}`;
    const known = this.#pools.get(key);
    if (known !== undefined) return known;
    const { provisioner, passwordOf, now } = this.#options;
    const password = role === provisioner.username ? provisioner.password : passwordOf(role);
    const endpoint = { ...provisioner, database, username: role, password };
    const pool = new Pool(endpoint, { cap, permits: this.#permits, now });
    this.#pools.set(key, pool);
    return pool;
  }

  /**
   * Frees a permit: from the pool that was idle longest, unless that is hardly idle; else from the one that holds most
   * connections. With as many connections as tenants who ask in turn, each of them so comes to have one, and keeps it.
   */
  #reclaim(): void {
    let idlest: Pool | undefined;
    let largest: Pool | undefined;
    for (const pool of this.#pools.values()) {
      if (pool.size === 0) continue;
      if (pool.inFlight === 0 && (idlest === undefined || pool.idleSince < idlest.idleSince)) idlest = pool;
      if (largest === undefined || pool.size > largest.size) largest = pool;
    }
    const restingSince = this.#options.now() - restingMilliseconds;
    const maySpare = largest !== undefined && largest.size > 1;
    if (idlest !== undefined && (idlest.idleSince <= restingSince || !maySpare)) void idlest.closeIdle(0);
    else largest?.retireOne();
  }

  /** Pools themselves are kept: whoever holds one may open a connection in it at any time. */
  async #closeIdle(): Promise<void> {
    for (const pool of this.#pools.values()) await pool.closeIdle(idleMilliseconds);
  }
}
