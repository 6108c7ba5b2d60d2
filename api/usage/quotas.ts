// Quotas as requests and writes meet them. An app without any costs a look into a map.
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

/** What an app may have; undefined: as much as it likes. */
interface Limits {
  storage_mb: number | undefined;
  records: number | undefined;
  requests_per_sec: number | undefined;
}

/** What is known of an app that has a quota. */
interface AppQuotas {
  /** As it was last seen. */
  app: AppDefinition;
  records: Remainder;
  bytes: Remainder;
  requests: RateLimiter;
}

/** What a write adds. */
export interface Addition {
  /** New records. */
  records: number;
  /** What is written, which is taken to need as many bytes as it has in JSON. */
  input: unknown;
}

const mebibyte = 1_048_576;
const maxIdleApps = 1_000;

/** Quotas as writes see them. */
export interface WriteQuotas {
  /** Runs a write that adds to an app. Throws `403` or `413` `quota_exceeded`, and whatever the write throws. */
  write<Result>(app: AppDefinition, addition: Addition, work: () => Promise<Result>): Promise<Result>;
}

/** The quotas of all apps, in one process. */
export class Quotas implements WriteQuotas {
  readonly #parts: QuotaParts;
  readonly #limits = new WeakMap<AppDefinition, { revision: number; limits: Limits }>();
  /** By the name of the app's schema, which no other app ever has. */
  readonly #accounts = new Map<string, AppQuotas>();

  constructor(parts: QuotaParts) {
    this.#parts = parts;
  }

  /** Counts a request; undefined when it may pass at once. Throws `429 quota_exceeded`. */
  request(app: AppDefinition): undefined | Promise<void> {
    const known = this.#limitsOf(app);
    if (known instanceof Promise) return known.then((limits) => this.#pass(app, limits));
    this.#pass(app, known);
    return undefined;
  }

  write<Result>(app: AppDefinition, addition: Addition, work: () => Promise<Result>): Promise<Result> {
    const known = this.#limitsOf(app);
    if (known instanceof Promise) {
      return known.then((limits) => this.#bounded(app, limits, { addition, work }));
    }
    const { records, storage_mb } = known;
    return records === undefined && storage_mb === undefined
      ? work()
      : this.#bounded(app, known, { addition, work });
  }

  /** Claims bytes for a file: `most`, or what there is of it from `least` on. Throws `413 quota_exceeded`. */
  async claimBytes(
    app: AppDefinition,
    bytes: { least: number; most: number },
  ): Promise<Claim & { exceeded: () => Error } | undefined> {
    const { storage_mb } = await this.#limitsOf(app);
    if (storage_mb === undefined) return undefined;
    const exceeded = () => quotaExceeded('quota.storage_mb', storage_mb);
    const claim = await this.#accountOf(app).bytes.take(storage_mb * mebibyte, bytes);
    if (claim === undefined) throw exceeded();
    return { ...claim, exceeded };
  }

  #pass(app: AppDefinition, { requests_per_sec: most }: Limits): void {
    if (most === undefined) return;
    const { sharing: { workers }, now } = this.#parts;
    if (!this.#accountOf(app).requests.take(most / workers, now())) {
      throw quotaExceeded('quota.requests_per_sec', most);
    }
  }

  async #bounded<Result>(
    app: AppDefinition,
    { records, storage_mb }: Limits,
    { addition, work }: { addition: Addition; work: () => Promise<Result> },
  ): Promise<Result> {
    const account = this.#accountOf(app);
    const claims: Claim[] = [];
    try {
      if (records !== undefined && addition.records > 0) {
        const { records: amount } = addition;
        const claim = await account.records.take(records, { least: amount, most: amount });
        if (claim === undefined) throw quotaExceeded('quota.records', records);
        claims.push(claim);
      }
      if (storage_mb !== undefined) {
        const amount = Buffer.byteLength(JSON.stringify(addition.input));
        const claim = await account.bytes.take(storage_mb * mebibyte, { least: amount, most: amount });
        if (claim === undefined) throw quotaExceeded('quota.storage_mb', storage_mb);
        claims.push(claim);
      }
      const result = await work();
      for (const claim of claims) claim.settle(claim.amount);
      return result;
    } catch (error) {
      // Without its connection nobody says how a statement ended.
      const isUnsure = error instanceof StorageError && error.failure === 'unavailable';
      for (const claim of claims) claim.settle(isUnsure ? claim.amount : 0);
      throw error;
    }
  }

  #limitsOf(app: AppDefinition): Limits | Promise<Limits> {
    const known = this.#limits.get(app);
    return known?.revision === this.#parts.policyCache.revision ? known.limits : this.#readLimits(app);
  }

  async #readLimits(app: AppDefinition): Promise<Limits> {
    const { policies, policyCache } = this.#parts;
    // Before it is read: what changes meanwhile makes it old.
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

  #accountOf(app: AppDefinition): AppQuotas {
    const known = this.#accounts.get(app.schema);
    if (known !== undefined) {
      known.app = app;
      return known;
    }
    if (this.#accounts.size >= maxIdleApps) this.#forgetIdle();
    const { sharing, now } = this.#parts;
    const account: AppQuotas = {
      app,
      records: new Remainder({ ...sharing, now, leaks: false, count: () => this.#countRecords(account.app) }),
      bytes: new Remainder({ ...sharing, now, leaks: true, count: () => this.#countBytes(account.app) }),
      requests: new RateLimiter(),
    };
    this.#accounts.set(app.schema, account);
    return account;
  }

  #forgetIdle(): void {
    const now = this.#parts.now();
    for (const [schema, { records, bytes, requests }] of this.#accounts) {
      if (records.isIdle && bytes.isIdle && requests.isFull(now)) this.#accounts.delete(schema);
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
