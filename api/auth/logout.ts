// Logout: ends the login that a refresh or access token belongs to, and the access token itself.
import { findActor } from '../../storage/actors.ts';
import type { WorkspaceDefinition } from '../../storage/definition.ts';
import { isUuid } from '../../storage/ids.ts';
import { insertRevocations } from '../../storage/revocations.ts';
import { findSession, type FoundSession, lockFamily, revokeFamily } from '../../storage/sessions.ts';
import { auditSystem, auditWorkspace } from '../audit/write.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import type { Origin } from '../route.ts';
import type { Principal } from '../scope.ts';
import { readRefreshToken } from './refresh-tokens.ts';
import { homeOf } from './sessions.ts';

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
  { origin, now }: { origin: Origin; now: Date },
): Promise<void> {
  const principal = accessToken === undefined ? undefined : await principalOf(deps, accessToken);
  const logins = [
    refreshToken === undefined ? undefined : await loginOfRefreshToken(deps, refreshToken),
    principal === undefined ? undefined : await loginOfAccessToken(deps, principal),
  ];
  const ended = new Map<string, Login>();
  for (const login of logins) if (login !== undefined) ended.set(login.session.family, login);
  for (const login of ended.values()) await endLogin(deps, login, { origin, now });
  const jtis = new Set([...logins].flatMap((login) => login === undefined ? [] : [login.session.id]));
  if (principal !== undefined) jtis.add(principal.jti);
  await revoke(deps, [...jtis]);
}

async function principalOf({ tokens }: LogoutDeps, accessToken: string): Promise<Principal | undefined> {
  try {
    return tokens.recall(accessToken) ?? await tokens.verify(accessToken);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

async function loginOfRefreshToken(deps: LogoutDeps, text: string): Promise<Login | undefined> {
  const located = readRefreshToken(deps.secrets, text);
  return located === undefined
    ? undefined
    : await loginIn(deps, located.workspace, { tokenHash: located.hash });
}

async function loginOfAccessToken(
  deps: LogoutDeps,
  { jti, workspace }: Principal,
): Promise<Login | undefined> {
  // The token of an earlier release has no session.
  return isUuid(jti) ? await loginIn(deps, workspace, { id: jti }) : undefined;
}

async function loginIn(
  deps: LogoutDeps,
  id: string | undefined,
  by: { tokenHash: Buffer } | { id: string },
): Promise<Login | undefined> {
  const workspace = id === undefined ? undefined : await deps.definitions.workspace(id);
  if (workspace?.id !== id) return undefined;
  const { connection, ledger } = homeOf(deps, workspace);
  const session = await connection.run((sql) => findSession(sql, ledger, by));
  return session === undefined ? undefined : { workspace, session };
}

async function endLogin(
  deps: LogoutDeps,
  { workspace, session }: Login,
  { origin, now }: { origin: Origin; now: Date },
): Promise<void> {
  const { family, principal_id } = session;
  const actor = await deps.databases.control.run((sql) => findActor(sql, principal_id)) ?? principal_id;
  const { connection, ledger } = homeOf(deps, workspace);
  await connection.transaction(async (sql) => {
    await lockFamily(sql, family);
    await revokeFamily(sql, ledger, { family, now });
    const event = { actor, action: 'logout', target: actor, origin };
    await (ledger === 'control' ? auditSystem(sql, deps, event) : auditWorkspace(sql, deps, event));
  });
}

async function revoke({ databases, revocations }: LogoutDeps, jtis: readonly string[]): Promise<void> {
  if (jtis.length === 0) return;
  const rows = jtis.map((jti) => revocations.row('jti', jti));
  await databases.control.transaction((sql) => insertRevocations(sql, rows));
  revocations.apply(rows);
}
