// Reading records: from the cache where that is enough, else from the database.
import type { RecordSelection } from '../../storage/app/search/searched-selection.ts';
import type { Restriction } from '../../storage/app/records/restriction.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';
import {
  type CheckedRecord,
  countRecords,
  countStatement,
  type RecordSlice,
  selectChecked,
  selectSlice,
} from '../../storage/app/records/records.ts';
import { type Access, memoryCheck } from '../rules/access.ts';
import type { RecordDeps, RecordScope } from './collection.ts';
import type { Narrowing } from './ports.ts';

/** A record and whether it passes its rule; undefined when there is none. */
export function readRecord(
  { recordCache }: RecordDeps,
  { plan, connection, target }: RecordScope,
  { access, id, rule }: { access: Access; id: string; rule: Restriction | undefined },
): CheckedRecord | undefined | Promise<CheckedRecord | undefined> {
  const read = (rule?: Restriction) => connection.run((sql) => selectChecked(sql, plan, id, rule));
  const passesInMemory = rule === undefined ? everyRecord : memoryCheck(access, target);
  if (passesInMemory === undefined) return read(rule);
  const judge = (record: StoredRecord | undefined) => {
    if (record === undefined) return undefined;
    const passes = passesInMemory(record);
    return passes === undefined ? read(rule) : { record, passes };
  };
  // The statement without a rule is the same for everybody.
  const found = recordCache.find(target, id, async () => (await read())?.record);
  return found instanceof Promise ? found.then(judge) : judge(found);
}

const everyRecord = () => true;

/** A page of a list. */
interface PageReading {
  selection: RecordSelection;
  /** The conditions of the selection, on which its total depends. */
  narrowing: Narrowing;
  slice: Omit<RecordSlice, 'withSnapshot'>;
  /** False when nobody asked for the total. */
  counted: boolean;
}

/** The records of a page. */
export interface ReadPage {
  records: StoredRecord[];
  /** True when further records come after them. */
  hasMore: boolean;
  /** The number of records on all pages, or 0 where that is not asked for. */
  total: number;
}

/** Reads a page of a list. Throws `RowsTooLarge`. */
export async function readPage(
  { recordCache }: RecordDeps,
  { plan, connection, target }: RecordScope,
  { selection, narrowing, slice, counted }: PageReading,
): Promise<ReadPage> {
  const total = recordCache.total(target, narrowing);
  const withSnapshot = counted && total.needsSnapshot;
  const { records, hasMore, snapshot } = await connection.run((sql) =>
    selectSlice(sql, plan, selection, { ...slice, withSnapshot })
  );
  if (!counted) return { records, hasMore, total: 0 };
  const seen = slice.offset + records.length;
  // The last page says itself how many there are.
  const isLast = slice.after === undefined && !hasMore && (records.length > 0 || slice.offset === 0);
  if (isLast) return { records, hasMore, total: seen };
  const count = countStatement(plan, selection);
  const all = await total.get({ count, snapshot }, () => connection.run((sql) => countRecords(sql, count)));
  return { records, hasMore, total: records.length > 0 ? Math.max(all, seen) : all };
}
