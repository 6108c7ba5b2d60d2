// An end-user looks through their own logins, and ends one or all of them.
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { isUuid, uuidTime } from '../../../storage/sql/ids.ts';
import { hasLogin, listLoginApps, listLogins } from '../../../storage/workspace/own-sessions.ts';
import type { Page, PageRequest } from '../../../storage/sql/page.ts';
import { findSession, lockFamily, revokeFamily } from '../../../storage/sessions.ts';
import { lockUser } from '../../../storage/workspace/user-accounts.ts';
import type { Caller } from '../../audit/actor.ts';
import { auditWorkspace } from '../../audit/write.ts';
import type { Deps } from '../../deps.ts';
import { fail } from '../../errors.ts';
import { boolean, nullable, object, string, timestamp, type ValueOf } from '../../contract/schema.ts';
import type { Principal } from '../../scope.ts';
import { idsWithLiveTokens, sessionTerms } from './sessions.ts';
import { revokeAllTokens } from '../tokens/end-user-tokens.ts';
import { revokeSessionTokens } from '../tokens/login-tokens.ts';
import { failNoPrincipal, requireUser } from '../account/me.ts';

/** One login of an end-user. */
export const ownSessionResponse = object({
  id: string({ format: 'uuid' }),
  app: nullable(string()),
  user_agent: nullable(string()),
  ip: nullable(string()),
  created_at: timestamp(),
  last_used_at: timestamp(),
  expires_at: timestamp(),
  current: boolean(),
});

type OwnSession = ValueOf<typeof ownSessionResponse>;
type EndDeps = Pick<Deps, 'databases' | 'revocations' | 'newId' | 'now'>;

/** Logins that are not over, oldest first. `last_used_at`: when the newest of their tokens was issued. */
export async function listOwnSessions(
  deps: Pick<Deps, 'databases' | 'policies'>,
  workspace: WorkspaceDefinition,
  { principal, page, now }: { principal: Principal; page: PageRequest; now: Date },
): Promise<Page<OwnSession>> {
  const { id: userId } = await requireUser(deps, principal, workspace);
  const { jti } = principal;
  const connection = deps.databases.workspace(workspace.database);
  const apps = await connection.run((sql) => listLoginApps(sql, userId));
  // The policy of now counts, too, when one is refreshed.
  const lives = await Promise.all(apps.map(async (app) => {
    const { refreshTtl } = await sessionTerms(deps, { workspace: workspace.id, app: app ?? undefined });
    return { app, seconds: refreshTtl };
  }));
  return await connection.run(async (sql) => {
    const own = isUuid(jti) ? await findSession(sql, 'workspace', { id: jti }) : undefined;
    const found = await listLogins(sql, { userId, lives, now }, page);
    const items = found.items.map(({ family, ...login }) => ({
      id: family,
      ...login,
      // The id may be ahead of a clock that was set back.
      created_at: new Date(Math.min(uuidTime(family), login.last_used_at.getTime())),
      current: family === own?.family,
    }));
    return { ...found, items };
  });
}

/** Ends one login with its access tokens. Throws `404 not_found` for one that is not the user's own. */
export async function endOwnSession(
  deps: EndDeps,
  workspace: WorkspaceDefinition,
  { id, principal, origin, now }: { id: string } & Caller,
): Promise<void> {
  const { id: userId, email } = await requireUser(deps, principal, workspace);
  if (!isUuid(id)) failNoSession(id);
  // As everybody else writes it who takes the lock.
  const family = id.toLowerCase();
  const { databases, revocations } = deps;
  const rows = await databases.workspace(workspace.database).transaction(async (sql) => {
    await lockFamily(sql, family);
    if (!await hasLogin(sql, { userId, family })) failNoSession(family);
    const ended = await revokeFamily(sql, 'workspace', { family, now });
    const event = { actor: email, action: 'session_revoke', target: email, details: { id: family }, origin };
    await auditWorkspace(sql, deps, event);
    return await revokeSessionTokens(sql, deps, {
      schema: 'workspace',
      sessions: idsWithLiveTokens(ended, now),
    });
  });
  revocations.apply(rows);
}

/** Ends all logins, also the one that asks. */
export async function endOwnSessions(
  deps: EndDeps,
  workspace: WorkspaceDefinition,
  { principal, origin, now }: Caller,
): Promise<void> {
  const { id: userId, email } = await requireUser(deps, principal, workspace);
  await deps.databases.workspace(workspace.database).transaction(async (sql) => {
    if (await lockUser(sql, userId) === undefined) failNoPrincipal();
    const action = 'session_revoke_all';
    await auditWorkspace(sql, deps, { actor: email, action, target: email, origin });
    await revokeAllTokens(sql, deps, { userId, now });
  });
}

function failNoSession(id: string): never {
  fail('not_found', `session "${id}" does not exist`);
}
