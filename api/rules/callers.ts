// Looks up what rules and filters read of callers and tokens do not have: emails, and the callers' own profiles.
import { findAdminEmail } from '../../storage/control/admins.ts';
import type { Databases } from '../../storage/connections/databases.ts';
import type { Action, AppDefinition, CollectionDefinition } from '../../storage/definition.ts';
import type { RequestPrincipal, RequestValues } from '../../storage/app/filter/request.ts';
import type { FilterRecord } from '../../storage/app/filter/column-value.ts';
import { fold } from '../../storage/app/filter/fold.ts';
import { profilePasses, selectProfiles } from '../../storage/app/profiles.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import { findUserFacts, type UserFacts } from '../../storage/workspace/user-facts.ts';
import { compiledRule } from './compile.ts';
import { callerMembersIn, joinMembers, membersOfGetRules, profileFields } from './caller-members.ts';

/** The members of a caller that are looked up. */
export type CallerFacts = Pick<RequestPrincipal, 'email' | 'verified' | 'created_at' | 'profiles'>;

/** Looks up callers. An unknown id has no facts, and a master admin no email. */
export interface CallerLookup {
  ofAdmin(id: string): Promise<string | undefined>;
  /** `members` are names as `callerMembersIn` returns them. */
  ofUser(app: AppDefinition, id: string, members: readonly string[]): Promise<CallerFacts>;
}

type RuleDatabases = Pick<Databases, 'app' | 'control'>;

/** A lookup that queries the databases each time. */
export function callerLookup(databases: RuleDatabases): CallerLookup {
  return {
    ofAdmin: (id) => databases.control.run((sql) => findAdminEmail(sql, id)),
    ofUser: async (app, id, members) => (await findCallers(databases, app, [id], members)).get(id) ?? {},
  };
}

/** The facts about some users of an app, by id as it was given. */
export async function findCallers(
  databases: Pick<Databases, 'app'>,
  app: AppDefinition,
  ids: readonly string[],
  members: readonly string[],
): Promise<Map<string, CallerFacts>> {
  return await databases.app(app.workspace.database, app.schema).run(async (sql) => {
    const isProfileOnly = members.every((name) => name.startsWith('profile.'));
    const users = isProfileOnly ? new Map<string, UserFacts>() : await findUserFacts(sql, ids);
    const profiles = await findProfiles(sql, app, ids, members);
    return new Map(ids.map((id) => [id, { ...users.get(id), profiles: profiles.get(id) }]));
  });
}

async function findProfiles(
  sql: Sql,
  app: AppDefinition,
  ids: readonly string[],
  members: readonly string[],
): Promise<Map<string, Record<string, FilterRecord>>> {
  const found = new Map<string, Record<string, FilterRecord>>();
  for (const [name, fields] of profileFields(members)) {
    const collection = app.collections.get(name);
    if (collection?.kind !== 'auth') continue;
    const records = await selectProfiles(sql, { schema: app.schema, collection }, fields, ids);
    for (const [id, record] of records) found.set(id, { ...found.get(id), [name]: record });
  }
  return found;
}

/** A caller with its facts, and the request that it makes. */
interface AskingCaller {
  auth: RequestPrincipal;
  request: Pick<RequestValues, 'now' | 'query'>;
  /** What its own filter reads of it. */
  members: readonly string[];
}

/** The profiles that a caller's own filter may read: those that the caller may get. */
export async function visibleProfiles(
  databases: Pick<Databases, 'app'>,
  app: AppDefinition,
  { auth, request, members }: AskingCaller,
): Promise<RequestPrincipal['visibleProfiles']> {
  const visible: Record<string, FilterRecord> = {};
  const asked = { ...request, auth, method: 'GET', body: {} };
  for (const name of profileFields(members).keys()) {
    const collection = app.collections.get(name);
    const record = auth.profiles?.[name];
    if (collection === undefined || record === undefined) continue;
    const residue = fold(compiledRule(app, collection, 'get').condition, asked);
    const passes = residue.kind === 'constant' ? residue.passes : await databases
      .app(app.workspace.database, app.schema)
      .run((sql) => profilePasses(sql, { schema: app.schema, collection }, record.id, { residue }));
    if (passes) visible[name] = record;
  }
  return visible;
}

/** The members of the caller that the rule, the caller's own filter or rules of related records may read. */
export function membersNeeded(
  { app, collection }: { app: AppDefinition; collection: CollectionDefinition },
  action: Action,
  query: RequestValues['query'],
): readonly string[] {
  const { callerMembers } = compiledRule(app, collection, action);
  const follows = action === 'create' || action === 'update' || query['filter'] !== undefined ||
    query['expand'] !== undefined;
  if (!follows) return callerMembers;
  return joinMembers(callerMembers, callerMembersIn(query['filter']), membersOfGetRules(app));
}
