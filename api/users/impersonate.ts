// An admin gets a short token of an end-user, to see what that user sees.
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { isUuid, uuidTime } from '../../storage/sql/ids.ts';
import { lockUser } from '../../storage/workspace/user-accounts.ts';
import { type Caller, readActorName } from '../audit/actor.ts';
import { auditWorkspace } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { findApp } from '../target.ts';
import { failNoUser } from './list.ts';

/** The longest life of such a token, in seconds. */
export const maxImpersonationSeconds = 3_600;

/** The body of the request. */
export interface ImpersonationRequest {
  ttl_sec?: number | undefined;
  /** The only app that the token is valid for. */
  app?: string | undefined;
}

/** A token of an end-user. There is no refresh token. */
export interface Impersonation {
  access_token: string;
  expires_at: Date;
}

const defaultSeconds = 900;

/** Issues the token. Throws `404 not_found` for the user, `404 app_not_found`. */
export async function impersonateUser(
  deps: Pick<Deps, 'databases' | 'definitions' | 'revocations' | 'tokens' | 'newId' | 'now'>,
  { workspace, id }: { workspace: WorkspaceDefinition; id: string },
  { ttl_sec: ttlSeconds = defaultSeconds, app, principal, origin, now }: ImpersonationRequest & Caller,
): Promise<Impersonation> {
  if (!isUuid(id)) failNoUser(id);
  const actor = await readActorName(deps, principal);
  if (app !== undefined) await findApp(deps.definitions, workspace.id, app);
  const issued = await deps.databases.workspace(workspace.database).transaction(async (sql) => {
    const user = await lockUser(sql, id) ?? failNoUser(id);
    // While the row is locked: what ends the tokens of the user afterwards ends this one, too.
    const jti = deps.revocations.newId();
    const issuedAt = Math.min(uuidTime(jti), now.getTime());
    const expires = new Date((Math.floor(issuedAt / 1_000) + ttlSeconds) * 1_000);
    const details = { id: user.id, token: jti, app: app ?? null, expires_at: expires };
    await auditWorkspace(sql, deps, {
      actor,
      action: 'user_impersonate',
      target: user.email,
      details,
      origin,
    });
    return { userId: user.id, jti, issuedAt, expires };
  });
  const grant = {
    role: 'user',
    id: issued.userId,
    workspace: workspace.id,
    ...app !== undefined && { apps: [app] },
    impersonator: { id: principal.id, role: principal.role },
  } as const;
  const { jti, issuedAt } = issued;
  return {
    access_token: await deps.tokens.issue(grant, { jti, issuedAt, ttlSeconds }),
    expires_at: issued.expires,
  };
}
