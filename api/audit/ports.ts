// What those who append to an audit log need of those who seal it.
import type { Chain } from '../../storage/audit/chain.ts';

/** Is told of new rows, and sees to it that they are sealed. */
export interface SealQueue {
  /** Hears of a row that was appended in a transaction which may still be open, or be rolled back. Never waits. */
  enqueue(chain: Chain, id: string): void;
}
