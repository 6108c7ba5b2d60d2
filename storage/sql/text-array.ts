// PostgreSQL's text form of one-dimensional arrays of text or uuid. The driver would learn array types by a query on
// every new connection, and these two are all that is used.

/** The driver's type for `text[]` and `uuid[]` (their oids: pg_type.dat). */
export const textArrayType = {
  to: 1009,
  from: [1009, 2951],
  serialize: formatArray,
  parse: parseArray,
};

/** https://www.postgresql.org/docs/18/arrays.html#ARRAYS-IO */
export function formatArray(items: readonly string[]): string {
  return `{${items.map((item) => `"${item.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

/** Reads what PostgreSQL writes for an array without nulls. */
export function parseArray(text: string): string[] {
  const items: string[] = [];
  const item = /"((?:[^"\\]|\\.)*)"|([^{},"]+)/gs;
  for (const [, quoted, plain] of text.matchAll(item)) {
    items.push(quoted === undefined ? plain ?? '' : quoted.replace(/\\(.)/gs, '$1'));
  }
  return items;
}
