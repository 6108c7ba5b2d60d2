// What one process does for the audit logs behind its requests.
import type { ApiStart } from '../../supervisor/protocol.ts';
import type { Deps } from '../deps.ts';
import type { SealQueue } from './ports.ts';
import { keepRetention } from './retention.ts';
import { Sealer } from './sealer.ts';

/** What main.ts does with it. */
export interface Audit extends SealQueue {
  /** Seals what is there to be sealed, and stops. */
  close(): Promise<void>;
}

/** Begins at once; the first of several processes does besides what one has to do for all, a successor what the dead one left. */
export function createAudit(
  deps: Pick<Deps, 'config' | 'databases' | 'secrets' | 'observe' | 'now'>,
  { worker, successor }: Pick<ApiStart, 'worker' | 'successor'>,
): Audit {
  const seals = new Sealer(deps);
  if (worker === 0 || successor) seals.sweep();
  if (worker !== 0) return seals;
  const retention = keepRetention(deps);
  return {
    enqueue: (chain, id) => seals.enqueue(chain, id),
    async close() {
      await retention.close();
      await seals.close();
    },
  };
}
