// Slows the uploads of a workspace down to the bytes a second that it may send.
import { setTimeout as pause } from 'node:timers/promises';
import type { SpentShares } from '../logging/spent-shares.ts';
import type { Policies } from '../policies/effective.ts';
import { LruCache } from '../process/lru-cache.ts';
import { type Bucket, tokensAt } from '../process/token-bucket.ts';
import { quotaLimit } from './quota.ts';

interface PaceParts {
  policies: Policies;
  spentShares: SpentShares;
  /** The number of processes that share the rate. */
  workers: number;
  /** Milliseconds since 1970. */
  now: () => number;
}

const mebibyte = 1_048_576;
/** Beyond this, workspaces that have not uploaded for longest begin anew. */
const maxWorkspaces = 10_000;
const quota = 'quota.upload_mb_per_sec';

/** The uploads of one process. */
export class UploadPace {
  readonly #parts: PaceParts;
  readonly #buckets = new LruCache<Bucket>(maxWorkspaces);

  constructor(parts: PaceParts) {
    this.#parts = parts;
  }

  /**
   * Takes bytes that have come out of the rate of a workspace, and waits until it allows for them. While it waits, nothing more
   * is read of that upload, so the client has to wait too. A second's bytes may come at once.
   */
  async take(workspace: string, bytes: number): Promise<void> {
    const { policies, spentShares, workers, now } = this.#parts;
    const limit = await quotaLimit(policies, quota, { workspace });
    if (limit === undefined) return;
    const rate = Math.max(1, limit) * mebibyte / workers;
    const at = now();
    const known = this.#buckets.get(workspace) ?? { tokens: rate, at };
    const tokens = tokensAt(at, known, { burst: rate, perSecond: rate }) - bytes;
    this.#buckets.set(workspace, { tokens, at });
    if (tokens >= 0) return;
    spentShares.note({ share: quota, workspace });
    await pause(-tokens / rate * 1_000);
  }
}
