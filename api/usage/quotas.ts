// Checks the quotas of apps for requests and writes. For an app without quotas, it reads one map.
import type { Databases } from '../../storage/connections/databases.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import { StorageError } from '../../storage/errors.ts';
import { countAppRecords, readAppSize } from '../../storage/control/usage.ts';
import type { PolicyCache } from '../policies/cache.ts';
import type { Policies } from '../policies/effective.ts';
import { RateLimiter } from './rate-limiter.ts';
import { quotaExceeded, quotaLimit } from './quota.ts';
import { type Claim, Remainder, type Sharing } from './remainder.ts';

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
  requests_per_sec: number | undefined;
}

/** The state of the quotas of one app. */
interface AppQuotas {
  /** The definition of the last request. */
  app: AppDefinition;
  records: Remainder;
  bytes: Remainder;
  requests: RateLimiter;
}

/** The records and data that a write adds. */
export interface Addition {
  /** The number of new records. */
  records: number;
  /** The written data. Its size is taken to be that of its JSON. */
  input: unknown;
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

  /** Claims `max` bytes for a file, or all that are left when they are at least `min`. Throws `413 quota_exceeded`. */
  async claimBytes(
    app: AppDefinition,
    bytes: { min: number; max: number },
  ): Promise<Claim & { exceeded: () => Error } | undefined> {
    const { storage_mb } = await this.#readLimits(app);
    if (storage_mb === undefined) return undefined;
    const exceeded = () => quotaExceeded('quota.storage_mb', storage_mb);
    const claim = await this.#quotas(app).bytes.take(storage_mb * mebibyte, bytes);
    if (claim === undefined) throw exceeded();
    return { ...claim, exceeded };
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
    { records, storage_mb }: Limits,
    { addition, work }: { addition: Addition; work: () => Promise<Result> },
  ): Promise<Result> {
    const quotas = this.#quotas(app);
    const claims: Claim[] = [];
    try {
      if (records !== undefined && addition.records > 0) {
        const { records: amount } = addition;
        const claim = await quotas.records.take(records, { min: amount, max: amount });
        if (claim === undefined) throw quotaExceeded('quota.records', records);
        claims.push(claim);
      }
      if (storage_mb !== undefined) {
        const amount = Buffer.byteLength(JSON.stringify(addition.input));
        const claim = await quotas.bytes.take(storage_mb * mebibyte, { min: amount, max: amount });
        if (claim === undefined) throw quotaExceeded('quota.storage_mb', storage_mb);
        claims.push(claim);
      }
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

  #readLimits(app: AppDefinition): Limits | Promise<Limits> {
    const known = this.#limits.get(app);
    return known?.revision === this.#parts.policyCache.revision ? known.limits : this.#loadLimits(app);
  }

  async #loadLimits(app: AppDefinition): Promise<Limits> {
    const { policies, policyCache } = this.#parts;
    // Taken before the policies are read, so that a change in between makes the limits stale.
    const { revision } = policyCache;
    const at = { workspace: app.workspace.id, app: app.id };
    const [storage_mb, records, requests_per_sec] = await Promise.all([
      quotaLimit(policies, 'quota.storage_mb', at),
      quotaLimit(policies, 'quota.records', at),
      quotaLimit(policies, 'quota.requests_per_sec', at),
    ]);
    const limits = { storage_mb, records, requests_per_sec };
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
      bytes: new Remainder({ ...sharing, now, leaks: true, count: () => this.#countBytes(quotas.app) }),
      requests: new RateLimiter(),
    };
    this.#apps.set(app.schema, quotas);
    return quotas;
  }

  #evictIdle(): void {
    const now = this.#parts.now();
    for (const [schema, { records, bytes, requests }] of this.#apps) {
      if (records.isIdle && bytes.isIdle && requests.isFull(now)) this.#apps.delete(schema);
    }
  }

  async #countRecords({ workspace, schema, collections }: AppDefinition): Promise<number> {
    const pool = this.#parts.databases.app(workspace.database, schema);
    const { records } = await countAppRecords((work) => pool.run(work), schema, [...collections.keys()]);
    return records;
  }

  async #countBytes({ workspace, schema }: AppDefinition): Promise<number> {
    const pool = this.#parts.databases.app(workspace.database, schema);
    const { database_bytes, file_bytes } = await pool.run((sql) => readAppSize(sql, schema));
    return database_bytes + file_bytes;
  }
}
