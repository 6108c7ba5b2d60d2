// The order of a list, as SQL.

/** A column to sort by. */
export interface SortKey {
  column: string;
  descending: boolean;
}

/** Its order, and whether a last column says which snapshot it saw. */
export interface ListShape {
  sort: readonly SortKey[];
  withSnapshot: boolean;
}

/** The keys as SQL, and then the id: every list has exactly one order. `nameOf` names a column as it is sorted by. */
export function orderBy(sort: readonly SortKey[], nameOf: (column: string) => string): string {
  return [...sort, { column: 'id', descending: false }]
    .map(({ column, descending }) => `${nameOf(column)}${descending ? ' desc' : ''}`)
    .join(', ');
}
