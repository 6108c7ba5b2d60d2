// The memory of pages that are being read and sent, which workspaces share.
import { ByteBudget } from '../../storage/concurrency/byte-budget.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';

/** Of all workspaces, in bytes. */
const total = 256 * 1_048_576;
/** Of one workspace: as much as the longest page. */
const share = total / 4;
/** As long as statements wait for their workspace's share of connections. */
const timeoutMs = 10_000;

/** Makes the budget of one process, by the ids of workspaces. */
export function pageBudget({ spentShares }: { spentShares: Pick<Deps['spentShares'], 'note'> }): ByteBudget {
  const refuse = (workspace: string) => {
    spentShares.note({ share: 'memory of pages', workspace });
    return new ApiError(
      'unavailable',
      'this workspace has too many long pages under way; try again, or ask for fewer records at once',
      [['Retry-After', '1']],
    );
  };
  return new ByteBudget({ total, share, timeoutMs, refuse });
}
