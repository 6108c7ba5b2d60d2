// The sealing of audit logs, as the code that appends to them sees it.
import type { Chain } from '../../storage/audit/chain.ts';

/** The rows that wait to be sealed. */
export interface SealQueue {
  /** Adds a row. The transaction that appended it may still be open, or be rolled back. Does not wait. */
  enqueue(chain: Chain, id: string): void;
}
