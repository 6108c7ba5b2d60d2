// What one process knows of the records that it reads and writes.
import type { AppDefinition } from '../../storage/definition.ts';
import type { Deps } from '../deps.ts';
import { noMemory, RememberedRecords } from './remembered.ts';
import { RememberedTotals, SnapshotTotals } from './totals.ts';
import { WriteLedger } from './write-ledger.ts';
import { WriteOrder } from './write-order.ts';

/** What it depends on. */
export interface RecordParts extends Pick<Deps, 'definitions'> {
  /** Whether this is the only process that writes, on a cluster of its own: so that it hears of every write. */
  isAlone: boolean;
  /** See `WriteLedger`. */
  settle?: number;
}

/** Puts it together. */
export function createRecords(
  { definitions, isAlone, ...options }: RecordParts,
): Pick<Deps, 'writes' | 'totals' | 'remembered' | 'writeOrder'> {
  const isCurrent = (app: AppDefinition) => definitions.peekApp(app.workspace.id, app.id) === app;
  const writes = new WriteLedger({ now: Date.now, isCurrent, ...options });
  const known = isAlone
    ? { totals: new RememberedTotals(writes), remembered: new RememberedRecords(writes) }
    : { totals: new SnapshotTotals(), remembered: noMemory };
  return { ...known, writes, writeOrder: new WriteOrder() };
}
