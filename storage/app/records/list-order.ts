// The order of a list, as SQL.

/** A column to sort by. */
export interface SortKey {
  column: string;
  descending: boolean;
}

/** The order of a list. `withSnapshot` adds a last column with the snapshot that the statement saw. */
export interface ListShape {
  sort: readonly SortKey[];
  withSnapshot: boolean;
}

/**
 * The keys as SQL, followed by the id, so that every list has exactly one order. `nameOf` gives the expression of a
 * column.
 */
export function orderBy(sort: readonly SortKey[], nameOf: (column: string) => string): string {
  return [...sort, { column: 'id', descending: false }]
    .map(({ column, descending }) => `${nameOf(column)}${descending ? ' desc' : ''}`)
    .join(', ');
}
