// The query parameters `sort` and `fields` of records.
import type { SortKey } from '../../../storage/app/records/list-order.ts';
import type { RecordPlan, StoredRecord } from '../../../storage/app/records/plan.ts';
import { rankColumn } from '../../../storage/app/search/record-search.ts';
import { failValidation, unknownColumn } from '../../errors.ts';
import type { ExpandedFile } from '../ports.ts';

/**
 * Related records by the names of the relations: null for one that is empty, or that the caller may not read. Backwards,
 * and of a relation that holds many, those that the caller may read. Files likewise.
 */
export type Expansion = Record<
  string,
  RelatedRecord | RelatedRecord[] | ExpandedFile | ExpandedFile[] | null
>;

/** A record at the end of a relation, with `expand` where further relations of it were asked for. */
export type RelatedRecord = StoredRecord & { expand?: Expansion };

/** A record in a response. `fields=` may leave its timestamps out. */
export type SelectedRecord =
  & Pick<StoredRecord, 'id' | 'collection' | 'fields'>
  & { created_at?: string; updated_at?: string; expand?: Expansion };

/** Picks the fields of a record for a response. */
export type RecordSelector = (record: StoredRecord) => SelectedRecord;

const ownColumns = new Set(['id', 'created_at', 'updated_at']);

/** Reads `-created_at,title`, and in a search `-@rank`. Throws `400 unknown_column`, and `400 validation` for a rank without a search. */
export function readSort(plan: RecordPlan, sort: string | undefined, searched = false): SortKey[] {
  return namesIn(sort).map((name) => {
    const descending = name.startsWith('-');
    const column = descending ? name.slice(1) : name;
    if (column === rankColumn) {
      if (!searched) failValidation([{ field: 'sort', reason: `${rankColumn} needs a search` }]);
    } else if (!ownColumns.has(column) && !plan.hasField(column)) failUnknown(plan, 'sort', column);
    if (plan.rows.isMany(column)) {
      failValidation([{ field: 'sort', reason: `"${column}" holds many values, which have no order` }]);
    }
    return { column, descending };
  });
}

/** Reads `title,created_at`. Throws `400 unknown_column`. */
export function readFields(plan: RecordPlan, fields: string | undefined): RecordSelector {
  const names = namesIn(fields);
  if (names.length === 0) return (record) => record;
  const wanted = new Set(names);
  for (const name of wanted) {
    const known = ownColumns.has(name) || name === 'collection' || plan.hasField(name);
    if (!known) failUnknown(plan, 'fields', name);
  }
  return ({ id, collection, fields, created_at, updated_at }) => ({
    id,
    collection,
    fields: Object.fromEntries(Object.entries(fields).filter(([name]) => wanted.has(name))),
    ...(wanted.has('created_at') ? { created_at } : {}),
    ...(wanted.has('updated_at') ? { updated_at } : {}),
  });
}

/** The names in a list with commas. */
export function namesIn(list: string | undefined): string[] {
  return list === undefined || list.trim() === '' ? [] : list.split(',').map((name) => name.trim());
}

/** Throws `400 unknown_column` for a name in a query parameter. */
export function failUnknown(plan: RecordPlan, parameter: string, name: string): never {
  throw unknownColumn(parameter, `"${plan.collection}" has no field "${name.slice(0, 100)}"`);
}
