// Logout: ends the login that a refresh or access token belongs to, and the access token itself.
import { findActor } from '../../../storage/control/actors.ts';
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { isUuid } from '../../../storage/sql/ids.ts';
import { insertRevocations } from '../../../storage/control/revocations.ts';
import { findSession, type FoundSession, lockFamily, revokeFamily } from '../../../storage/sessions.ts';
import { findUser } from '../../../storage/workspace/user-accounts.ts';
import { auditInSchema } from '../../audit/write.ts';
import type { Deps } from '../../deps.ts';
import { ApiError } from '../../errors.ts';
import type { RequestOrigin } from '../../contract/route.ts';
import type { Principal } from '../../scope.ts';
import { revokeSessionTokens } from '../tokens/login-tokens.ts';
import { readRefreshToken } from '../tokens/refresh-tokens.ts';
import { idsWithLiveTokens, sessionStore } from './sessions.ts';

type LogoutDeps = Pick<
  Deps,
  'databases' | 'definitions' | 'revocations' | 'secrets' | 'tokens' | 'newId' | 'now'
>;

/** A login that ends. */
interface Login {
  workspace: WorkspaceDefinition | undefined;
  session: FoundSession;
}

/** Ends what the tokens that came with the request belong to; tokens that are not good are no error. */
export async function logOut(
  deps: LogoutDeps,
  { refreshToken, accessToken }: { refreshToken: string | undefined; accessToken: string | undefined },
  { origin, now }: { origin: RequestOrigin; now: Date },
): Promise<void> {
  const principal = accessToken === undefined ? undefined : await readPrincipal(deps, accessToken);
  const found = [
    refreshToken === undefined ? undefined : await findLoginByRefreshToken(deps, refreshToken),
    principal === undefined ? undefined : await findLoginByAccessToken(deps, principal),
  ];
  const logins = found.filter((login) => login !== undefined);
  const families = new Map(logins.map((login) => [login.session.family, login]));
  const presented = logins.map(({ session: { id } }) => id);
  for (const login of families.values()) await endLogin(deps, login, { presented, origin, now });
  if (principal !== undefined && !presented.includes(principal.jti)) await revoke(deps, principal);
}

async function readPrincipal({ tokens }: LogoutDeps, accessToken: string): Promise<Principal | undefined> {
  try {
    return tokens.verifyCached(accessToken) ?? await tokens.verify(accessToken);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

async function findLoginByRefreshToken(deps: LogoutDeps, text: string): Promise<Login | undefined> {
  const located = readRefreshToken(deps.secrets, text);
  return located === undefined
    ? undefined
    : await findLogin(deps, located.workspace, { tokenHash: located.hash });
}

async function findLoginByAccessToken(
  deps: LogoutDeps,
  { jti, workspace }: Principal,
): Promise<Login | undefined> {
  // The token of an earlier release has no session.
  return isUuid(jti) ? await findLogin(deps, workspace, { id: jti }) : undefined;
}

async function findLogin(
  deps: LogoutDeps,
  id: string | undefined,
  by: { tokenHash: Buffer } | { id: string },
): Promise<Login | undefined> {
  const workspace = id === undefined ? undefined : await deps.definitions.workspace(id);
  if (workspace?.id !== id) return undefined;
  const { connection, schema } = sessionStore(deps, workspace);
  const session = await connection.run((sql) => findSession(sql, schema, by));
  return session === undefined ? undefined : { workspace, session };
}

/** Ends it with those of its access tokens that may still be good; what is presented ends also where it was over. */
async function endLogin(
  deps: LogoutDeps,
  { workspace, session }: Login,
  { presented, origin, now }: { presented: readonly string[]; origin: RequestOrigin; now: Date },
): Promise<void> {
  const { family, kind } = session;
  const actor = await findActorName(deps, { workspace, session });
  const { connection, schema } = sessionStore(deps, workspace);
  const revoked = await connection.transaction(async (sql) => {
    await lockFamily(sql, family);
    const ended = await revokeFamily(sql, schema, { family, now });
    const event = { actor, action: 'logout', target: actor, details: { as: kind }, origin };
    await auditInSchema(sql, deps, schema, event);
    const sessions = new Set([...presented, ...idsWithLiveTokens(ended, now)]);
    return await revokeSessionTokens(sql, deps, { schema, sessions });
  });
  deps.revocations.apply(revoked);
}

/** The name of whoever logs out; one who is gone is still known by the id. */
async function findActorName(deps: LogoutDeps, { workspace, session }: Login): Promise<string> {
  const { kind, principal_id: id } = session;
  if (kind !== 'user') return await deps.databases.control.run((sql) => findActor(sql, id)) ?? id;
  const user = await sessionStore(deps, workspace).connection.run((sql) => findUser(sql, id));
  return user?.email ?? id;
}

/** A token that has no session. */
async function revoke(
  { databases, revocations }: LogoutDeps,
  { jti, expiresAt }: Principal,
): Promise<void> {
  const rows = [{ ...revocations.row('jti', jti), expires_at: new Date(expiresAt * 1_000) }];
  await databases.control.transaction((sql) => insertRevocations(sql, rows));
  revocations.apply(rows);
}
