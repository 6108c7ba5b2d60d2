// Aggregates of records: how many there are, and sums, averages, least and greatest values, of all or of each group.
import type { FieldKind } from '../../../definition.ts';
import type { Sql } from '../../../connections/pool.ts';
import { quoteIdentifier } from '../../../sql/quote.ts';
import type { Comparable, Kind } from '../../fields/kind.ts';
import { kinds } from '../../fields/kinds.ts';
import type { RecordPlan } from '../plan.ts';
import type { RecordSelection } from '../../search/searched-selection.ts';
import { recordAlias, whereSql } from '../restriction.ts';
import { type RowBudget, selectWithin } from '../row-budget.ts';

/** The sum of texts that PostgreSQL writes for doubles is exact, and the same in any order of the records. */
const decimal = '::text::numeric';

interface AggregateFunction {
  /** The values that it takes; undefined when it takes no field. */
  takes: readonly Comparable[] | undefined;
  sql(column: string): string;
  /** True when its result is of the kind of the field, otherwise it is a number. */
  keepsKind?: true;
}

/** The functions, by their names. */
export const aggregateFunctions = {
  count: { takes: undefined, sql: () => 'count(*)::double precision' },
  sum: { takes: ['number'], sql: (column) => `sum(${column}${decimal})::double precision` },
  avg: { takes: ['number'], sql: (column) => `avg(${column}${decimal})::double precision` },
  min: { takes: ['number', 'datetime', 'text'], sql: (column) => `min(${column})`, keepsKind: true },
  max: { takes: ['number', 'datetime', 'text'], sql: (column) => `max(${column})`, keepsKind: true },
} as const satisfies Record<string, AggregateFunction>;

/** The name of a function. */
export type AggregateName = keyof typeof aggregateFunctions;

/** A function of a field, or of the records themselves. */
export interface Aggregate {
  name: AggregateName;
  /** A column of the collection that the function takes; undefined for `count`. */
  column: string | undefined;
}

/** The groups that are asked for: columns, none of which is JSON, and what is computed of each group. */
export interface Grouping {
  by: readonly string[];
  aggregates: readonly Aggregate[];
  /** The number of groups that are returned at most. */
  limit: number;
}

/** The values of the columns that make a group, and the results of its functions, in the order in which they were asked for. */
export interface RecordGroup {
  by: readonly unknown[];
  results: readonly unknown[];
}

/** A selected expression, and how its values become those of a response. */
interface SelectedValue {
  text: string;
  fromDatabase: Kind['fromDatabase'];
}

/**
 * The groups of the selected records in the order of their values, and without columns one group of all of them, even if
 * there are none. Throws `RowsTooLarge`; `StorageError` `invalid` for a sum that no double can hold.
 */
export async function selectGroups(
  sql: Sql,
  plan: RecordPlan,
  { restrictions }: RecordSelection,
  { by, aggregates, limit, budget }: Grouping & { budget: RowBudget },
): Promise<RecordGroup[]> {
  const where = whereSql(restrictions, 1);
  const columns = [...new Set([...by, ...aggregates.flatMap(({ column }) => column ?? [])])];
  // The inner names of the columns, since the value of a profile's user is a subselect, which makes no group.
  const names = new Map(columns.map((column, index) => [column, `c${index}`]));
  const groups = by.map((column) => valueOf(names.get(column) ?? '', plan.rows.kindOf(column)));
  const results = aggregates.map(({ name, column = '' }) => {
    const { sql, keepsKind }: AggregateFunction = aggregateFunctions[name];
    return valueOf(sql(names.get(column) ?? ''), keepsKind ? plan.rows.kindOf(column) : 'number');
  });
  const values = [...groups, ...results];
  const inner = columns.map((column) => `${plan.rows.expression(column)} as ${names.get(column)}`);
  const condition = where.text === '' ? '' : ` where ${where.text}`;
  const order = by.map((column) => names.get(column)).join(', ');
  const text = `select ${values.map(({ text }) => text).join(', ')} ` +
    `from (select ${inner.join(', ')} from ${plan.table} as ${
      quoteIdentifier(recordAlias)
    }${condition}) as g` +
    (order === '' ? '' : ` group by ${order} order by ${order}`) +
    ` limit $${where.params.length + 1}::bigint`;
  const rows = await selectWithin(sql, plan.aggregate(text), { params: [...where.params, limit], budget });
  return rows.map((row) => {
    const read = row.map((value, index) =>
      value === null ? null : values[index]?.fromDatabase?.(value) ?? value
    );
    return { by: read.slice(0, by.length), results: read.slice(by.length) };
  });
}

function valueOf(text: string, kind: FieldKind = 'text'): SelectedValue {
  return { text: text + kinds[kind].output, fromDatabase: kinds[kind].fromDatabase };
}
