// Checks the quotas of apps for requests and writes. For an app without quotas, it reads one map.
import type { Databases } from '../../storage/connections/databases.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import { StorageError } from '../../storage/errors.ts';
import { type AppSize, countAppRecords, readAppSize } from '../../storage/control/usage.ts';
import type { PolicyCache } from '../policies/cache.ts';
import type { Policies } from '../policies/effective.ts';
import { RateLimiter } from './rate-limiter.ts';
import { quotaExceeded, quotaLimit } from './quota.ts';
import { type Amount, claimAll, exactly, settleAll, type Wanted } from './claims.ts';
import { Remainder, type Sharing } from './remainder.ts';

interface QuotaParts {
  databases: Databases;
  policies: Policies;
  policyCache: PolicyCache;
  sharing: Sharing;
  /** Milliseconds since 1970. */
  now: () => number;
}

/** The limits of an app; undefined where there is none. */
interface Limits {
  storage_mb: number | undefined;
  records: number | undefined;
  files: number | undefined;
  requests_per_sec: number | undefined;
}

/** The state of the quotas of one app. */
interface AppQuotas {
  /** The definition of the last request. */
  app: AppDefinition;
  records: Remainder;
  storage_mb: Remainder;
  files: Remainder;
  requests: RateLimiter;
}

/** The records and data that a write adds. */
export interface Addition {
  /** The number of new records. */
  records: number;
  /** The written data. Its size is taken to be that of its JSON. */
  input: unknown;
}

/** The claim of a file that is being stored. */
export interface FileClaim {
  /** The bytes that it may have. */
  readonly amount: number;
  /** Creates the error of a file that has more. */
  exceeded: () => Error;
  /** Says how many bytes were stored; undefined: none, and no file. To be called once. */
  settle(used: number | undefined): void;
}

const mebibyte = 1_048_576;
/** Above this number of apps, idle ones are evicted. */
const maxIdleApps = 1_000;

/** The quotas as writes use them. */
export interface WriteQuotas {
  /** Runs a write that adds to an app. Throws `403` or `413` `quota_exceeded`, and the errors of the write. */
  write<Result>(app: AppDefinition, addition: Addition, work: () => Promise<Result>): Promise<Result>;
}

/** The quotas of all apps, in one process. */
export class Quotas implements WriteQuotas {
  readonly #parts: QuotaParts;
  readonly #limits = new WeakMap<AppDefinition, { revision: number; limits: Limits }>();
  /** By the app's schema, whose name is never used again. */
  readonly #apps = new Map<string, AppQuotas>();

  constructor(parts: QuotaParts) {
    this.#parts = parts;
  }

  /** Counts a request. Undefined when the limits are in memory. Throws `429 quota_exceeded`. */
  request(app: AppDefinition): undefined | Promise<void> {
    const known = this.#readLimits(app);
    if (known instanceof Promise) return known.then((limits) => this.#countRequest(app, limits));
    this.#countRequest(app, known);
    return undefined;
  }

  write<Result>(app: AppDefinition, addition: Addition, work: () => Promise<Result>): Promise<Result> {
    const known = this.#readLimits(app);
    if (known instanceof Promise) {
      return known.then((limits) => this.#claimAndWrite(app, limits, { addition, work }));
    }
    const { records, storage_mb } = known;
    return records === undefined && storage_mb === undefined
      ? work()
      : this.#claimAndWrite(app, known, { addition, work });
  }

  /**
   * Claims a place for a file, and `max` bytes, or all that are left when they are at least `min`. Throws `403` or `413`
   * `quota_exceeded`.
   */
  async claimFile(app: AppDefinition, bytes: Amount): Promise<FileClaim> {
    const limits = await this.#readLimits(app);
    const places = await claimAll([this.#wanted(app, limits, 'files', exactly(1))]);
    try {
      const room = await claimAll([this.#wanted(app, limits, 'storage_mb', bytes)]);
      return {
        amount: Math.min(bytes.max, ...room.map(({ amount }) => amount)),
        exceeded: () => quotaExceeded('quota.storage_mb', limits.storage_mb ?? 0),
        settle: (used) => {
          settleAll(places, used === undefined ? 0 : 1);
          settleAll(room, used ?? 0);
        },
      };
    } catch (error) {
      settleAll(places, 0);
      throw error;
    }
  }

  #countRequest(app: AppDefinition, { requests_per_sec: max }: Limits): void {
    if (max === undefined) return;
    const { sharing: { workers }, now } = this.#parts;
    if (!this.#quotas(app).requests.take(max / workers, now())) {
      throw quotaExceeded('quota.requests_per_sec', max);
    }
  }

  async #claimAndWrite<Result>(
    app: AppDefinition,
    limits: Limits,
    { addition: { records, input }, work }: { addition: Addition; work: () => Promise<Result> },
  ): Promise<Result> {
    const bytes = limits.storage_mb === undefined ? 0 : Buffer.byteLength(JSON.stringify(input));
    const claims = await claimAll([
      this.#wanted(app, limits, 'records', exactly(records)),
      this.#wanted(app, limits, 'storage_mb', exactly(bytes)),
    ]);
    try {
      const result = await work();
      for (const claim of claims) claim.settle(claim.amount);
      return result;
    } catch (error) {
      // When the connection was lost, the write may have been committed.
      const isUnknown = error instanceof StorageError && error.failure === 'unavailable';
      for (const claim of claims) claim.settle(isUnknown ? claim.amount : 0);
      throw error;
    }
  }

  #wanted(
    app: AppDefinition,
    limits: Limits,
    name: 'records' | 'files' | 'storage_mb',
    amount: Amount,
  ): Wanted {
    const unit = name === 'storage_mb' ? mebibyte : 1;
    const remainder = this.#quotas(app)[name];
    return { quota: `quota.${name}`, limit: limits[name], unit, remainder, amount };
  }

  #readLimits(app: AppDefinition): Limits | Promise<Limits> {
    const known = this.#limits.get(app);
    return known?.revision === this.#parts.policyCache.revision ? known.limits : this.#loadLimits(app);
  }

  async #loadLimits(app: AppDefinition): Promise<Limits> {
    const { policies, policyCache } = this.#parts;
    // Taken before the policies are read, so that a change in between makes the limits stale.
    const { revision } = policyCache;
    const at = { workspace: app.workspace.id, app: app.id };
    const [storage_mb, records, files, requests_per_sec] = await Promise.all([
      quotaLimit(policies, 'quota.storage_mb', at),
      quotaLimit(policies, 'quota.records', at),
      quotaLimit(policies, 'quota.files', at),
      quotaLimit(policies, 'quota.requests_per_sec', at),
    ]);
    const limits = { storage_mb, records, files, requests_per_sec };
    this.#limits.set(app, { revision, limits });
    return limits;
  }

  #quotas(app: AppDefinition): AppQuotas {
    const known = this.#apps.get(app.schema);
    if (known !== undefined) {
      known.app = app;
      return known;
    }
    if (this.#apps.size >= maxIdleApps) this.#evictIdle();
    const { sharing, now } = this.#parts;
    const quotas: AppQuotas = {
      app,
      records: new Remainder({ ...sharing, now, leaks: false, count: () => this.#countRecords(quotas.app) }),
      storage_mb: new Remainder({ ...sharing, now, leaks: true, count: () => this.#countBytes(quotas.app) }),
      files: new Remainder({ ...sharing, now, leaks: false, count: () => this.#countFiles(quotas.app) }),
      requests: new RateLimiter(),
    };
    this.#apps.set(app.schema, quotas);
    return quotas;
  }

  #evictIdle(): void {
    const now = this.#parts.now();
    for (const [schema, { records, storage_mb, files, requests }] of this.#apps) {
      if (records.isIdle && storage_mb.isIdle && files.isIdle && requests.isFull(now)) {
        this.#apps.delete(schema);
      }
    }
  }

  async #countRecords({ workspace, schema, collections }: AppDefinition): Promise<number> {
    const pool = this.#parts.databases.app(workspace.database, schema);
    const { records } = await countAppRecords((work) => pool.run(work), schema, [...collections.keys()]);
    return records;
  }

  async #countBytes(app: AppDefinition): Promise<number> {
    const { database_bytes, file_bytes } = await this.#readSize(app);
    return database_bytes + file_bytes;
  }

  async #countFiles(app: AppDefinition): Promise<number> {
    return (await this.#readSize(app)).files;
  }

  #readSize({ workspace, schema }: AppDefinition): Promise<AppSize> {
    const pool = this.#parts.databases.app(workspace.database, schema);
    return pool.run((sql) => readAppSize(sql, schema));
  }
}
