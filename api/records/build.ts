// What one process knows of the records that it reads and writes.
import type { AppDefinition } from '../../storage/definition.ts';
import type { Deps } from '../deps.ts';
import { noMemory, RememberedRecords } from './cache/cached-records.ts';
import { RememberedTotals, SnapshotTotals } from './cache/totals.ts';
import { type LedgerParts, WriteLedger } from './cache/write-tracker.ts';
import { WriteOrder } from './write-order.ts';

/** What it depends on. */
export interface RecordParts extends Pick<Deps, 'definitions'> {
  /** See `LedgerParts`. Of the only process that writes, on a cluster of its own: so that it hears of every write. */
  settled?: LedgerParts['settled'] | undefined;
}

/** Puts it together. */
export function createRecords(
  { definitions, settled }: RecordParts,
): Pick<Deps, 'writes' | 'totals' | 'remembered' | 'writeOrder'> {
  const isCurrent = (app: AppDefinition) => definitions.peekApp(app.workspace.id, app.id) === app;
  const writes = new WriteLedger({ isCurrent, settled: settled ?? (() => Promise.resolve()) });
  const known = settled === undefined
    ? { totals: new SnapshotTotals(), remembered: noMemory }
    : { totals: new RememberedTotals(writes), remembered: new RememberedRecords(writes) };
  return { ...known, writes, writeOrder: new WriteOrder() };
}
