// The background work of one process for the audit logs: sealing and retention.
import type { ApiStart } from '../../supervisor/protocol.ts';
import type { Deps } from '../deps.ts';
import type { SealQueue } from './ports.ts';
import { keepRetention } from './retention.ts';
import { Sealer } from './sealer.ts';

/** The background work, as main.ts uses it. */
export interface Audit extends SealQueue {
  /** Seals the rows that wait, and stops. */
  close(): Promise<void>;
}

/**
 * Starts the work. The first worker also removes old entries for all, and the first worker and the successor of a dead one
 * seal what is left in any log.
 */
export function createAudit(
  deps: Pick<Deps, 'config' | 'databases' | 'secrets' | 'observe' | 'now'>,
  { worker, successor }: Pick<ApiStart, 'worker' | 'successor'>,
): Audit {
  const sealer = new Sealer(deps);
  if (worker === 0 || successor) sealer.sweep();
  if (worker !== 0) return sealer;
  const retention = keepRetention(deps);
  return {
    enqueue: (chain, id) => sealer.enqueue(chain, id),
    async close() {
      await retention.close();
      await sealer.close();
    },
  };
}
