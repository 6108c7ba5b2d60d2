// The key of a view: subscriptions whose views have the same key share one evaluation of each event.
import type { RequestValues } from '../../../storage/app/filter/request.ts';

/** The key of a view. It has only those members of the caller and the query that are read: see `requestMembers`. */
export function viewKey(
  { auth, query }: Pick<RequestValues, 'auth' | 'query'>,
  members: ReadonlySet<string>,
  parts: readonly unknown[],
): string {
  const known = new Map<string, unknown>();
  const { profiles = {}, visibleProfiles = {}, ...caller } = auth ?? {};
  for (const [part, values] of Object.entries({ auth: caller, query })) {
    for (const [name, value] of Object.entries(values)) known.set(`${part}.${name}`, value);
  }
  for (const [collection, { fields, ...own }] of Object.entries(profiles)) {
    // A profile that the caller's own filter may read counts for another view than one that only rules may.
    const isVisible = Object.hasOwn(visibleProfiles, collection);
    for (const [name, value] of Object.entries({ ...fields, ...own })) {
      known.set(`auth.${collection}.${name}`, [value, isVisible]);
    }
  }
  return JSON.stringify([...parts, [...members].map((name) => [name, known.get(name) ?? null])]);
}
