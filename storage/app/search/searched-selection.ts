// The records of a selection as SQL, those that a search finds among them.
import type { Statement } from '../../connections/statements.ts';
import type { ColumnSql } from '../records/list-order.ts';
import type { RecordPlan } from '../records/plan.ts';
import { type Restriction, type Where, whereSql } from '../records/restriction.ts';
import { rankColumn, type RecordSearch } from './record-search.ts';

/** The records that a list selects from. */
export interface RecordSelection {
  restrictions: readonly Restriction[];
  /** True when a caller wrote one of the restrictions, so that there is no bound on how many there are. */
  isAdHoc: boolean;
  /** The words that the records must have. */
  search?: RecordSearch | undefined;
  /** True when only the newest records are selected, as many as are ranked. */
  isRanked?: boolean | undefined;
}

/** The condition of a selection, and the expression of the rank in a search. The parameters of the search come first. */
export function selectedWhere(
  plan: RecordPlan,
  { restrictions, search }: RecordSelection,
): { where: Where; rank: string | undefined } {
  if (search === undefined) return { where: whereSql(restrictions, 1), rank: undefined };
  if (plan.search === undefined) throw new RangeError(`"${plan.collection}" cannot be searched`);
  const { where, rank } = plan.search.write(search);
  return { where: bothOf(where, whereSql(restrictions, 1 + where.params.length)), rank };
}

/** The columns that a list is sorted by, and its rank. */
export function listColumns(plan: RecordPlan, rank: string | undefined): ColumnSql {
  if (rank === undefined) return plan.rows.columnSql;
  const ranked = { expression: rank, cast: '::float8', isNullable: false };
  return (column) => column === rankColumn ? ranked : plan.rows.columnSql(column);
}

/** The best plan depends on how many records have the words, so that no search is prepared. */
export function replanned(statement: Statement, { search }: RecordSelection): Statement {
  return search === undefined ? statement : { ...statement, prepare: false };
}

/** The conjunction of two conditions, whose parameters follow each other. */
export function bothOf(one: Where, other: Where): Where {
  const texts = [one.text, other.text].filter((text) => text !== '');
  return { text: texts.join(' and '), params: [...one.params, ...other.params] };
}
