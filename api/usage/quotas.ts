// Checks the quotas of apps for requests and writes. For an app without quotas, it reads one map.
import type { Databases } from '../../storage/connections/databases.ts';
import type { AppDefinition } from '../../storage/definition.ts';
import { StorageError } from '../../storage/errors.ts';
import type { PolicyCache } from '../policies/cache.ts';
import type { Policies } from '../policies/effective.ts';
import type { DiskReserve } from './disk-reserve.ts';
import { quotaExceeded, quotaLimit } from './quota.ts';
import { type Amount, claimAll, exactly, type IntendedClaim, settleAll } from './claims.ts';
import { jsonSize } from './json-size.ts';
import type { Sharing } from './remainder.ts';
import { Remainders } from './remainders.ts';

interface QuotaParts {
  databases: Databases;
  disk: Pick<DiskReserve, 'requireSpace'>;
  policies: Policies;
  policyCache: PolicyCache;
  sharing: Sharing;
  /** Milliseconds since 1970. */
  now: () => number;
}

/** The limits of an app; undefined where there is none. */
interface Limits {
  storage_mb: number | undefined;
  /** Of the workspace. */
  workspace_mb: number | undefined;
  records: number | undefined;
  files: number | undefined;
  requests_per_sec: number | undefined;
}

/** The records and data that a write adds. */
export interface Addition {
  /** The number of new records. */
  records: number;
  /** The written data. Its size is taken to be about that of its JSON. */
  input?: unknown;
  /** That size, where it is known. */
  bytes?: number;
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

/** Settles a claim: without an error, all of it was written. */
export type SettleWrite = (error?: unknown) => void;

const mebibyte = 1_048_576;

/** The quotas as writes use them. */
export interface WriteQuotas {
  /** Runs a write that adds to an app. Throws `403` or `413` `quota_exceeded`, and the errors of the write. */
  write<Result>(app: AppDefinition, addition: Addition, work: () => Promise<Result>): Promise<Result>;
}

/** The quotas as writes use them that consist of many steps. */
export interface BulkQuotas {
  /** Claims what a part of a longer write adds. Throws as `write` does. The function says once how the whole of it ended. */
  claim(app: AppDefinition, addition: Addition): Promise<SettleWrite>;
}

/** The quotas of all apps, in one process. */
export class Quotas implements WriteQuotas, BulkQuotas {
  readonly #parts: QuotaParts;
  readonly #limits = new WeakMap<AppDefinition, { revision: number; limits: Limits }>();
  readonly #remainders: Remainders;

  constructor(parts: QuotaParts) {
    this.#parts = parts;
    this.#remainders = new Remainders(parts);
  }

  /** Counts a request. Undefined when the limits are in memory. Throws `429 quota_exceeded`. */
  request(app: AppDefinition): undefined | Promise<void> {
    const known = this.#readLimits(app);
    if (known instanceof Promise) return known.then((limits) => this.#countRequest(app, limits));
    this.#countRequest(app, known);
    return undefined;
  }

  async write<Result>(app: AppDefinition, addition: Addition, work: () => Promise<Result>): Promise<Result> {
    this.#parts.disk.requireSpace();
    const known = this.#readLimits(app);
    const limits = known instanceof Promise ? await known : known;
    const { records, storage_mb, workspace_mb } = limits;
    if (records === undefined && storage_mb === undefined && workspace_mb === undefined) return await work();
    const settle = await this.#claimWrite(app, limits, addition);
    try {
      const result = await work();
      settle();
      return result;
    } catch (error) {
      settle(error);
      throw error;
    }
  }

  async claim(app: AppDefinition, addition: Addition): Promise<SettleWrite> {
    this.#parts.disk.requireSpace();
    return await this.#claimWrite(app, await this.#readLimits(app), addition);
  }

  /**
   * Claims a place for a file, and `max` bytes, or all that are left when they are at least `min`. Throws `403` or `413`
   * `quota_exceeded`, `503 unavailable` when the disk is almost full.
   */
  async claimFile(app: AppDefinition, bytes: Amount): Promise<FileClaim> {
    this.#parts.disk.requireSpace();
    const limits = await this.#readLimits(app);
    const places = await claimAll([
      {
        quota: 'quota.files',
        limit: limits.files,
        unit: 1,
        remainder: this.#remainders.app(app).files,
        amount: exactly(1),
      },
    ]);
    try {
      const room = await claimAll(this.#storage(app, limits, bytes));
      const least = room.toSorted((one, other) => one.amount - other.amount)[0];
      return {
        amount: least?.amount ?? bytes.max,
        exceeded: () => least?.exceeded() ?? new TypeError('no quota is set'),
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
    if (!this.#remainders.app(app).requests.take(max / workers, now())) {
      throw quotaExceeded('quota.requests_per_sec', max);
    }
  }

  async #claimWrite(
    app: AppDefinition,
    limits: Limits,
    { records, input, bytes = jsonSize(input) }: Addition,
  ): Promise<SettleWrite> {
    const claims = await claimAll([
      {
        quota: 'quota.records',
        limit: limits.records,
        unit: 1,
        remainder: this.#remainders.app(app).records,
        amount: exactly(records),
      },
      ...this.#storage(app, limits, exactly(bytes)),
    ]);
    return (error) => {
      // When the connection was lost, the write may have been committed.
      const isUnknown = error instanceof StorageError && error.failure === 'unavailable';
      for (const claim of claims) claim.settle(error === undefined || isUnknown ? claim.amount : 0);
    };
  }

  /** Bytes of an app, which are also its workspace's. */
  #storage(app: AppDefinition, { storage_mb, workspace_mb }: Limits, amount: Amount): IntendedClaim[] {
    const bytes = { quota: 'quota.storage_mb', unit: mebibyte, amount } as const;
    return [
      { ...bytes, limit: storage_mb, remainder: this.#remainders.app(app).bytes },
      {
        ...bytes,
        limit: workspace_mb,
        remainder: this.#remainders.workspaceBytes(app.workspace),
        place: ' in the workspace',
      },
    ];
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
    const [storage_mb, workspace_mb, records, files, requests_per_sec] = await Promise.all([
      quotaLimit(policies, 'quota.storage_mb', at),
      quotaLimit(policies, 'quota.storage_mb', { workspace: at.workspace }),
      quotaLimit(policies, 'quota.records', at),
      quotaLimit(policies, 'quota.files', at),
      quotaLimit(policies, 'quota.requests_per_sec', at),
    ]);
    const limits = { storage_mb, workspace_mb, records, files, requests_per_sec };
    this.#limits.set(app, { revision, limits });
    return limits;
  }
}
