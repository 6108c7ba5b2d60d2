// The members of callers that expressions read and tokens do not have, found in the text of rules and filters.
import type { AppDefinition } from '../../storage/definition.ts';

const looked = /@request\.auth\.(email|verified|created_at|profile\.\w+\.\w+)/g;

/**
 * The members that a text names: `email`, `verified`, `created_at`, `profile.<collection>.<field>`; sorted, each once. It
 * may find too many, in a literal for example.
 */
export function callerMembersIn(text: string | null | undefined): readonly string[] {
  if (!text?.includes('@request.auth.')) return none;
  const found = new Set([...text.matchAll(looked)].map(([, name]) => name ?? ''));
  return found.size === 0 ? none : [...found].sort();
}

const none: readonly string[] = [];

/** Several lists of members as one. */
export function joinMembers(...lists: readonly (readonly string[])[]): readonly string[] {
  const [first = none, ...others] = lists.filter((list) => list.length > 0);
  return others.length === 0 ? first : [...new Set([first, ...others].flat())].sort();
}

/** The fields of profiles among some members, by collection. */
export function profileFields(members: readonly string[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const [kind, collection, field] of members.map((name) => name.split('.'))) {
    if (kind !== 'profile' || collection === undefined || field === undefined) continue;
    const fields = found.get(collection) ?? new Set();
    found.set(collection, fields.add(field));
  }
  return found;
}

const membersToFollow = new WeakMap<AppDefinition, readonly string[]>();

/**
 * The members that following relations of an app's records may need: those in its `get` rules. By the text of the rules,
 * since an app may have a thousand of them and compiling all would take too long.
 */
export function membersOfGetRules(app: AppDefinition): readonly string[] {
  let members = membersToFollow.get(app);
  if (members === undefined) {
    members = joinMembers(
      ...app.collections.values().map(({ rules }) => callerMembersIn(rules.get?.filter)),
    );
    membersToFollow.set(app, members);
  }
  return members;
}
