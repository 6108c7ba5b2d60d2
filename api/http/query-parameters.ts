// The parameters of a query string, before they are checked against a schema.
const none: Readonly<Record<string, string>> = {};

/** Every parameter of the `search` of a URL as text; of a repeated name the first counts. */
export function queryParameters(search: string): Readonly<Record<string, string>> {
  if (search === '') return none;
  // The first of each name is set last. Names are data: `__proto__` becomes an own member here.
  return Object.fromEntries([...new URLSearchParams(search)].reverse());
}
