// A workspace admin removes a user, or users remove themselves; the tokens are refused at once.
import { actingAs, limitTime } from '../../storage/provision/acting.ts';
import { listAppIds, lockApps } from '../../storage/workspace/apps.ts';
import type { AppDefinition, WorkspaceDefinition } from '../../storage/definition.ts';
import { StorageError } from '../../storage/errors.ts';
import { usersCollection, usersId } from '../../storage/workspace/identities.ts';
import { isUuid } from '../../storage/sql/ids.ts';
import type { Sql } from '../../storage/connections/pool.ts';
import { planFor } from '../../storage/app/records/plan.ts';
import { referrersTo } from '../../storage/app/records/referrers.ts';
import { selectRecord } from '../../storage/app/records/records.ts';
import { voidTokens } from '../../storage/workspace/one-time-tokens.ts';
import { deleteUser, lockUser, type UserRow } from '../../storage/workspace/user-accounts.ts';
import { transactionAsConnection } from '../../storage/connections/transaction-as-connection.ts';
import { type Caller, readActorName } from '../audit/actor.ts';
import { auditWorkspace } from '../audit/write.ts';
import { revokeAccessTokens } from '../auth/tokens/end-user-tokens.ts';
import type { Deps } from '../deps.ts';
import { isOfDeletedApp } from '../deleted-tenant.ts';
import { writtenByRemoval } from '../records/announce.ts';
import { deleteWithUser, type RemovalTransaction } from '../records/relations/cascade.ts';
import { retryDeadlocks } from '../process/deadlock.ts';
import type { RecordCaller } from '../hooks/ports.ts';
import type { WriteDeps } from '../records/collection.ts';
import type { RecordStatements } from '../records/write-context.ts';
import { rehearseRemoval } from '../records/hooks/removal.ts';
import { type Rehearsal, rehearse, startRehearsal, stopIfPending } from '../records/hooks/rehearsal.ts';
import { type AppAnnouncement, type CommittedInApps, commitUserDeletion } from '../records/write.ts';
import { failNoUser } from './list.ts';

/** How often the apps are looked up, which may change while the user is being deleted. */
const maxReadings = 5;

type RemoveDeps =
  & Pick<
    Deps,
    | 'databases'
    | 'definitions'
    | 'policies'
    | 'recordCache'
    | 'writeOrder'
    | 'unheldFiles'
    | 'revocations'
    | 'newId'
    | 'now'
  >
  & Pick<WriteDeps, 'hooks' | 'realtime'>;

/** The principal that asks for the deletion, or the hook code. */
type Remover = Caller | { caller: RecordCaller; now: Date };

/** A user who is to be deleted, and who asks for it. */
interface UserRemoval {
  workspace: WorkspaceDefinition;
  id: string;
  /** By whom, for the audit log. */
  actor: string;
  by: Remover;
  self: SelfRemoval | undefined;
}

/** The user as one who asks for the own deletion. */
interface SelfRemoval {
  email: string;
  /** Throws when the user, who is locked by then, is not the same as the one who has proved to be it. */
  requireSame(user: UserRow): void;
}

/** An app in which records may point or belong to a user; `rehearsal` runs its hooks, and is undefined for an app without hooks. */
interface AppRemoval {
  app: AppDefinition;
  rehearsal: Rehearsal | undefined;
}

/**
 * Removes a user with its profiles and what points to it in any app: all of it or nothing. Throws `404 not_found`,
 * `409 conflict` while a record needs the user or too many depend on it, and what hooks of the apps throw.
 */
export async function removeUser(
  deps: RemoveDeps,
  { workspace, id }: Pick<UserRemoval, 'workspace' | 'id'>,
  by: Remover,
  self?: SelfRemoval,
): Promise<void> {
  if (!isUuid(id)) failNoUser(id);
  const actor = self?.email ?? ('caller' in by ? 'system' : await readActorName(deps, by.principal));
  const removal = { workspace, id, actor, by, self };
  const rehearsals = await commitUserDeletion(deps, workspace, (statements) => {
    const attempt = (apps: readonly AppDefinition[]) => removeFrom(deps, apps, { ...removal, statements });
    return retryDeadlocks(() => withAppsOfUsers(deps, workspace, attempt));
  });
  for (const rehearsal of rehearsals) await rehearsal.runAfterHooks();
}

/** Deletes the user in one transaction over these apps. */
async function removeFrom(
  deps: RemoveDeps,
  apps: readonly AppDefinition[],
  { workspace, id, actor, by, self, statements }: UserRemoval & { statements: RecordStatements },
): Promise<CommittedInApps<Rehearsal[]>> {
  // Before the transaction: a connection that holds one must not wait for another.
  const removals = await removalsFrom(deps, apps, by);
  const rehearsals = removals.map(({ rehearsal }) => rehearsal).filter((each) => each !== undefined);
  // The provisioner's, since no other role has rights in several apps: it takes on each one's in turn.
  const provisioner = deps.databases.provisioner(workspace.database);
  const announcements = await rehearse(rehearsals, provisioner, async (sql) => {
    await limitTime(sql);
    // Before the user: a deletion of an app takes its row first, and the table of users last.
    const held = await lockApps(sql, apps.map(({ schema }) => schema));
    const user = await lockUser(sql, id) ?? failNoUser(id);
    self?.requireSame(user);
    const there = removals.filter(({ app }) => held.has(app.schema));
    const transaction = { sql, statements, policies: deps.policies };
    const announcements = await removeFromApps(transaction, there, { id: user.id, now: by.now });
    stopIfPending(rehearsals);
    await deleteAccount(sql, deps, { user, actor, by });
    return announcements;
  });
  return { result: rehearsals, announcements };
}

/** Does work with the apps in which a record may point or belong to a user, and again when one of them has changed or gone. */
async function withAppsOfUsers<Result>(
  deps: Pick<RemoveDeps, 'databases' | 'definitions'>,
  { id, database }: WorkspaceDefinition,
  work: (apps: readonly AppDefinition[]) => Promise<Result>,
): Promise<Result> {
  for (let readings = 1;; readings++) {
    const apps: AppDefinition[] = [];
    for (const name of await deps.databases.workspace(database).run(listAppIds)) {
      const app = await deps.definitions.app(id, name);
      if (app !== undefined && knowsUsers(app)) apps.push(app);
    }
    try {
      return await work(apps);
    } catch (error) {
      if (readings === maxReadings || !await areOutdated(deps, apps, error)) throw error;
    }
  }
}

async function areOutdated(
  { definitions }: Pick<RemoveDeps, 'definitions'>,
  apps: readonly AppDefinition[],
  error: unknown,
): Promise<boolean> {
  for (const app of apps) {
    if (await isOfDeletedApp(definitions, app, error)) return true;
  }
  if (!(error instanceof StorageError) || error.failure !== 'undefined') return false;
  // Another process may have changed a collection, and its notification not have come yet.
  for (const app of apps) {
    const { workspace, id } = app;
    if (definitions.peekApp(workspace.id, id) === app) await definitions.invalidate(workspace.id, id);
  }
  return true;
}

async function removalsFrom(
  deps: Pick<RemoveDeps, 'databases' | 'hooks'>,
  apps: readonly AppDefinition[],
  by: Remover,
): Promise<AppRemoval[]> {
  const removals: AppRemoval[] = [];
  const caller = 'caller' in by ? by.caller : { principal: by.principal, requestId: by.origin.requestId };
  for (const app of apps) {
    removals.push({ app, rehearsal: await startRehearsal(deps, app, caller) });
  }
  return removals;
}

function knowsUsers(app: AppDefinition): boolean {
  return referrersTo(app, usersId).length > 0 || app.collections.values().some(({ kind }) => kind === 'auth');
}

/** Deletes record by record, because each is an event. What is added meanwhile PostgreSQL itself deletes or refuses. */
async function removeFromApps(
  { sql, statements, policies }: RemovalTransaction & Pick<RemoveDeps, 'policies'>,
  removals: readonly AppRemoval[],
  { id, now }: { id: string; now: Date },
): Promise<AppAnnouncement[]> {
  const announcements: AppAnnouncement[] = [];
  for (const { app, rehearsal } of removals) {
    await actingAs(sql, app.schema, async () => {
      // As the app sees it.
      const user = await selectRecord(sql, planFor(app.schema, usersCollection(app)), id);
      const context = { app, connection: transactionAsConnection(sql), policies, statements };
      const remove = () => deleteWithUser({ sql, statements }, app, { id, now });
      const removal = await rehearseRemoval(rehearsal, context, { now, remove });
      announcements.push({
        app,
        written: writtenByRemoval(removal),
        others: user === undefined ? [] : [user],
      });
    });
  }
  return announcements;
}

async function deleteAccount(
  sql: Sql,
  deps: RemoveDeps,
  { user, actor, by }: { user: UserRow; actor: string; by: Remover },
): Promise<void> {
  // Its refresh tokens are deleted with the row.
  await deleteUser(sql, user.id);
  // An invitation from before would let the user in again.
  await voidTokens(sql, { userId: user.id, email: user.email, purpose: 'invite', now: by.now });
  const details = { id: user.id, from: { verified: user.verified } };
  const event = { actor, action: 'user_delete', target: user.email };
  await auditWorkspace(
    sql,
    deps,
    'caller' in by
      ? { ...event, details: { ...details, by: 'hook' } }
      : { ...event, details, origin: by.origin },
  );
  await revokeAccessTokens(deps, user.id);
}
