// A workspace admin removes a user; its tokens are refused at once.
import { actingAs, hurry } from '../../storage/acting.ts';
import { listAppIds } from '../../storage/apps.ts';
import type { AppDefinition, WorkspaceDefinition } from '../../storage/definition.ts';
import { usersId, usersOf } from '../../storage/identities.ts';
import { isUuid } from '../../storage/ids.ts';
import type { Sql } from '../../storage/pool.ts';
import { planOf, type StoredRecord } from '../../storage/record-plan.ts';
import { referrersOf } from '../../storage/referrers.ts';
import { selectRecord } from '../../storage/records.ts';
import { deleteUser, lockUser, type UserRow } from '../../storage/user-accounts.ts';
import { actorOf, type By } from '../audit/actor.ts';
import { auditWorkspace } from '../audit/write.ts';
import { endAccessTokens } from '../auth/end-user-tokens.ts';
import type { Deps } from '../deps.ts';
import { announceAll, writtenBy } from '../records/announce.ts';
import { type Removal, removeWithUser } from '../records/cascade.ts';
import { untilSettled } from '../records/clash.ts';
import { usersTable } from '../records/dependencies.ts';
import { failNoUser } from './list.ts';

type RemoveDeps = Pick<
  Deps,
  'databases' | 'definitions' | 'realtime' | 'totals' | 'revocations' | 'newId' | 'now'
>;

/** A user who is to go. */
interface Leaver {
  workspace: WorkspaceDefinition;
  id: string;
}

/** What went with a user in an app. */
interface Farewell {
  app: AppDefinition;
  /** As the app saw it. */
  user: StoredRecord | undefined;
  removal: Removal;
}

/**
 * Removes a user with its profiles and what points to it in any app: all of it or nothing. Throws `404 not_found`, and `409 conflict` while a
 * record needs the user or too many depend on it.
 */
export async function removeUser(deps: RemoveDeps, leaver: Leaver, by: By): Promise<void> {
  const { workspace, id } = leaver;
  if (!isUuid(id)) failNoUser(id);
  const actor = await actorOf(deps, by.principal);
  const goodbye = async () => {
    // Before the transaction: a connection that holds one must not wait for another.
    const apps = await appsWithUsers(deps, workspace);
    // The provisioner's, since no other role has rights in several apps: it takes on each one's in turn.
    return await deps.databases.provisioner(workspace.database).transaction(async (sql) => {
      await hurry(sql);
      const user = await lockUser(sql, id) ?? failNoUser(id);
      const farewells = await leaveApps(sql, apps, { id: user.id, now: by.now });
      await deleteAccount(sql, deps, { user, actor, by });
      return farewells;
    });
  };
  await deps.totals.during([usersTable(workspace.database)], async () => {
    for (const { app, user, removal } of await untilSettled(goodbye)) {
      announceAll(deps, app, writtenBy(removal, by.now), user === undefined ? [] : [user]);
    }
  });
}

/** The apps in which a record may point or belong to a user, as their definitions are now. */
async function appsWithUsers(
  { databases, definitions }: Pick<Deps, 'databases' | 'definitions'>,
  { id, database }: WorkspaceDefinition,
): Promise<AppDefinition[]> {
  const ids = await databases.workspace(database).run(listAppIds);
  const apps: AppDefinition[] = [];
  for (const app of ids) {
    const definition = await definitions.app(id, app);
    if (definition !== undefined && knowsUsers(definition)) apps.push(definition);
  }
  return apps;
}

function knowsUsers(app: AppDefinition): boolean {
  return referrersOf(app, usersId).length > 0 || app.collections.values().some(({ kind }) => kind === 'auth');
}

/** Record by record, because each is an event; what is added meanwhile PostgreSQL itself removes or refuses. */
async function leaveApps(
  sql: Sql,
  apps: readonly AppDefinition[],
  { id, now }: { id: string; now: Date },
): Promise<Farewell[]> {
  const farewells: Farewell[] = [];
  for (const app of apps) {
    await actingAs(sql, app.schema, async () => {
      const user = await selectRecord(sql, planOf(app.schema, usersOf(app)), id);
      farewells.push({ app, user, removal: await removeWithUser(sql, app, { id, now }) });
    });
  }
  return farewells;
}

async function deleteAccount(
  sql: Sql,
  deps: RemoveDeps,
  { user, actor, by }: { user: UserRow; actor: string; by: By },
): Promise<void> {
  // Its refresh tokens go with the row.
  await deleteUser(sql, user.id);
  const details = { id: user.id };
  await auditWorkspace(sql, deps, {
    actor,
    action: 'user_delete',
    target: user.email,
    details,
    origin: by.origin,
  });
  await endAccessTokens(deps, user.id);
}
