// The parameters of a URL's query, before they are checked against a schema.
const none: Readonly<Record<string, string>> = {};

/** The parameters of the `search` of a URL as text; of a repeated name the first counts. */
export function queryParameters(search: string): Readonly<Record<string, string>> {
  if (search === '') return none;
  // Reversed, so that the first of each name is set last. `fromEntries` makes even `__proto__` an own property.
  return Object.fromEntries([...new URLSearchParams(search)].reverse());
}
