// Every connection of an API process: the control database, each workspace as its role, each app as its role.
import { type Connection, type Endpoint, type Permits, Pool } from './pool.ts';
import { StorageError } from './errors.ts';

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
const permitWaitMilliseconds = 2_000;
const controlConnections = 4;

/** The pools of one API process. Tenant pools open lazily and share one budget of connections. */
export class Databases {
  /** The control database as the provisioner; apart from the tenants' budget, so that they cannot starve it. */
  readonly control: Pool;
  readonly #options: DatabasesOptions;
  readonly #pools = new Map<string, Pool>();
  readonly #permits: PermitCount;
  readonly #sweep: NodeJS.Timeout;

  constructor(options: DatabasesOptions) {
    this.#options = options;
    this.#permits = new PermitCount(options.tenantConnections, () => this.#evictOne());
    this.control = new Pool(options.provisioner, {
      cap: controlConnections,
      permits: unlimited,
      now: options.now,
    });
    this.#sweep = setInterval(() => void this.#closeIdle(), sweepMilliseconds);
    this.#sweep.unref();
  }

  /** A workspace's database as the workspace's own role (users, sessions, its audit). */
  workspace(database: string): Connection {
    return this.#pool(database, database, this.#options.workspacePoolCap);
  }

  /** An app's schema as the app's own role. */
  app(database: string, role: string): Connection {
    return this.#pool(database, role, this.#options.appPoolCap);
  }

  /** A workspace's database as the provisioner: making and dropping apps, migrations. One connection. */
  provisioner(database: string): Connection {
    return this.#pool(database, this.#options.provisioner.username, 1);
  }

  /** Closes all pools of a database that is about to be dropped. */
  async forget(database: string): Promise<void> {
    const gone = [...this.#pools].filter(([, pool]) => pool.endpoint.database === database);
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
    const pool = new Pool({ ...provisioner, database, username: role, password }, {
      cap,
      permits: this.#permits,
      now,
    });
    this.#pools.set(key, pool);
    return pool;
  }

  /** Closes the idle connections of the pool that was used longest ago, to free a permit. */
  #evictOne(): boolean {
    let victim: Pool | undefined;
    for (const pool of this.#pools.values()) {
      if (
        pool.size > 0 && pool.inFlight === 0 && (victim === undefined || pool.idleSince < victim.idleSince)
      ) {
        victim = pool;
      }
    }
    if (victim === undefined) return false;
    void victim.closeIdle(0);
    return true;
  }

  async #closeIdle(): Promise<void> {
    for (const [key, pool] of this.#pools) {
      await pool.closeIdle(idleMilliseconds);
      if (pool.size === 0) this.#pools.delete(key);
    }
  }
}

const unlimited: Permits = { tryTake: () => true, take: () => Promise.resolve(), give: () => undefined };

/** A counting semaphore whose waiters give up after 2 s. */
class PermitCount implements Permits {
  #free: number;
  readonly #evict: () => boolean;
  readonly #waiting = new Set<() => void>();

  constructor(count: number, evict: () => boolean) {
    this.#free = count;
    this.#evict = evict;
  }

  tryTake(): boolean {
    if (this.#free <= 0) return false;
    this.#free--;
    return true;
  }

  take(): Promise<void> {
    if (this.tryTake()) return Promise.resolve();
    this.#evict();
    return new Promise((resolve, reject) => {
      const admit = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(admit);
        reject(new StorageError('unavailable', 'all database connections are busy'));
      }, permitWaitMilliseconds);
      this.#waiting.add(admit);
    });
  }

  give(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
