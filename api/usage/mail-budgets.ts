// The mails that anonymous callers and users may ask for: so many an hour for a workspace, and for a client in it.
import { networkOf } from '../http/client-network.ts';
import type { SpentShares } from '../logging/spent-shares.ts';
import type { Policies } from '../policies/effective.ts';
import { LruCache } from '../process/lru-cache.ts';
import { type Bucket, tokensAt } from '../process/token-bucket.ts';
import { type Quota, quotaLimit } from './quota.ts';

interface BudgetParts {
  policies: Policies;
  spentShares: SpentShares;
  now: () => Date;
}

/** Beyond this, the budgets that were not used for longest are full again. */
const maxClients = 100_000;
const maxWorkspaces = 10_000;
const hourSeconds = 3_600;

/** The budgets of one process. */
export class MailBudgets {
  readonly #parts: BudgetParts;
  readonly #clients = new LruCache<Bucket>(maxClients);
  readonly #workspaces = new LruCache<Bucket>(maxWorkspaces);

  constructor(parts: BudgetParts) {
    this.#parts = parts;
  }

  /** Takes a mail out of the budgets of a client and of its workspace. False when either has none left, which is logged. */
  async spend(workspace: string, ip: string): Promise<boolean> {
    const client = networkOf(ip);
    const ofClient = { quota: 'quota.mails_per_client_hour', key: `${workspace} ${client}`, client } as const;
    // First, so that a client that has spent its own does not spend the workspace's.
    return await this.#take(this.#clients, workspace, ofClient) &&
      await this.#take(this.#workspaces, workspace, { quota: 'quota.mails_per_hour', key: workspace });
  }

  async #take(
    buckets: LruCache<Bucket>,
    workspace: string,
    { quota, key, ...by }: { quota: Quota; key: string; client?: string },
  ): Promise<boolean> {
    const { policies, spentShares, now } = this.#parts;
    const burst = await quotaLimit(policies, quota, { workspace });
    if (burst === undefined) return true;
    const at = now().getTime();
    const limits = { burst, perSecond: burst / hourSeconds };
    const tokens = tokensAt(at, buckets.get(key) ?? { tokens: burst, at }, limits);
    if (tokens < 1) {
      spentShares.note({ share: quota, workspace, ...by });
      return false;
    }
    buckets.set(key, { tokens: tokens - 1, at });
    return true;
  }
}
