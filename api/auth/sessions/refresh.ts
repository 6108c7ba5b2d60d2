// Exchanging a refresh token for a new pair: each token works once, and one that is used again ends its login. A page that
// is reloaded while the response is on its way uses its cookie again, and gets the same token again for a few seconds.
import { type AdminRow, findAdmin } from '../../../storage/control/admins.ts';
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { uuidTime } from '../../../storage/sql/ids.ts';
import { findMaster, type MasterAdminRow } from '../../../storage/control/master-admins.ts';
import type { Connection, Sql } from '../../../storage/connections/pool.ts';
import type { RevocationRow } from '../../../storage/control/revocations.ts';
import {
  findSession,
  type FoundSession,
  insertSession,
  lockFamily,
  revokeReusedFamily,
  rotateSession,
  type ServerSchema,
  type SessionKind,
} from '../../../storage/sessions.ts';
import { findUser, lockUserShared, type UserRow } from '../../../storage/workspace/user-accounts.ts';
import { type Admin, showAdmin, showMaster } from '../account/admin-response.ts';
import { auditInSchema } from '../../audit/write.ts';
import type { Deps } from '../../deps.ts';
import { fail } from '../../errors.ts';
import type { RequestOrigin } from '../../contract/route.ts';
import { showUser, type User } from '../account/user-response.ts';
import type { Grant } from '../tokens/claims.ts';
import type { TokenPair } from './cookies.ts';
import { adminGrant } from '../login/login-admin.ts';
import { revokeSessionTokens } from '../tokens/login-tokens.ts';
import { hashToken } from '../email/one-time.ts';
import { makeSuccessor, readRefreshToken } from '../tokens/refresh-tokens.ts';
import {
  draftSession,
  idsWithLiveTokens,
  type IssuableDraft,
  issueTokens,
  type SessionDraft,
  sessionStore,
} from './sessions.ts';
import { userGrant } from '../login/sign-in-user.ts';

type RefreshDeps = Pick<
  Deps,
  'databases' | 'definitions' | 'policies' | 'revocations' | 'secrets' | 'tokens' | 'newId' | 'now'
>;

/** The tokens that a refresh endpoint accepts: any, or those of one kind in one workspace. */
export type Accepts = 'any' | { workspace: string; kind: SessionKind };

/** A token that was found, and the place that its session is kept in. */
interface Presented {
  session: FoundSession;
  workspace: WorkspaceDefinition | undefined;
  connection: Connection;
  schema: ServerSchema;
}

/** Whose tokens they are. */
export type Bearer = { admin: Admin } | { user: User };

/** Whose session it is, as of now. */
interface SessionOwner {
  grant: Grant;
  who: Bearer;
  /** The name in the audit log. */
  actor: string;
}

/** A refresh token as it was sent. */
interface Exchange {
  token: string;
  /** Sent by a browser, which may not have got the response to its last exchange. */
  isFromCookie?: boolean;
  origin: RequestOrigin;
  now: Date;
}

/** Returns a new pair and uses the old token up. Throws `401 unauthorized`. */
export async function refresh(
  deps: RefreshDeps,
  { accepts, ...sent }: { accepts: Accepts } & Exchange,
): Promise<{ pair: TokenPair; who: Bearer }> {
  const id = deps.revocations.newId();
  const { token, origin } = sent;
  const presented = await findPresented(deps, token, accepts) ?? refuse();
  const holder = await findOwner(deps, presented) ?? refuse();
  const { session, connection } = presented;
  const { family, kind, app } = session;
  const { grant, who } = holder;
  const place = { workspace: grant.workspace, app: app ?? undefined };
  const draft = await draftSession(deps, {
    id,
    exchanged: { family, token },
    kind,
    grant,
    app: place.app,
    origin,
  });
  const { value: reuseSeconds } = await deps.policies.range('tokens.refresh_reuse_sec', place);
  const { issued, revoked } = await connection.transaction((sql) =>
    exchange(sql, deps, { presented, holder, draft, sent, reuseMs: reuseSeconds * 1_000 })
  );
  deps.revocations.apply(revoked);
  if (issued === undefined) refuse();
  return { pair: await issueTokens(deps, issued), who };
}

async function findPresented(
  deps: RefreshDeps,
  token: string,
  accepts: Accepts,
): Promise<Presented | undefined> {
  const located = readRefreshToken(deps.secrets, token);
  if (located === undefined) return undefined;
  if (accepts !== 'any' && accepts.workspace !== located.workspace) return undefined;
  const workspace = located.workspace === undefined
    ? undefined
    : await deps.definitions.workspace(located.workspace);
  if (workspace?.id !== located.workspace) return undefined;
  const home = sessionStore(deps, workspace);
  const session = await home.connection.run((sql) =>
    findSession(sql, home.schema, { tokenHash: located.hash })
  );
  if (session === undefined || accepts !== 'any' && accepts.kind !== session.kind) return undefined;
  return { session, workspace, ...home };
}

/** Rights are read anew; undefined when the principal is gone or has lost the app that the session is for. */
async function findOwner(
  deps: RefreshDeps,
  { session, workspace, connection }: Presented,
): Promise<SessionOwner | undefined> {
  const { kind, principal_id } = session;
  const { control } = deps.databases;
  if (kind === 'master') {
    const row = await control.run((sql) => findMaster(sql, principal_id));
    return row === undefined ? undefined : masterOwner(row);
  }
  if (workspace === undefined) return undefined;
  if (kind === 'user') {
    const user = await connection.run((sql) => findUser(sql, principal_id));
    return user === undefined ? undefined : await userOwner(deps, user, { session, workspace });
  }
  const row = await control.run((sql) => findAdmin(sql, workspace.id, principal_id));
  return row === undefined ? undefined : await adminOwner(deps, row, session);
}

function masterOwner(row: MasterAdminRow): SessionOwner {
  return {
    grant: { role: 'master_admin', id: row.id },
    who: { admin: showMaster(row) },
    actor: row.username,
  };
}

async function adminOwner(
  deps: RefreshDeps,
  row: AdminRow,
  { app, id }: FoundSession,
): Promise<SessionOwner | undefined> {
  // The session is in another database than the password, so the password's change could not end it there.
  if (uuidTime(id) <= row.credentials_changed_at.getTime()) return undefined;
  const grant = await adminGrant(deps, row, app ?? undefined);
  return grant === undefined ? undefined : { grant, who: { admin: showAdmin(row) }, actor: row.email };
}

async function userOwner(
  deps: RefreshDeps,
  row: UserRow,
  { session, workspace }: { session: FoundSession; workspace: WorkspaceDefinition },
): Promise<SessionOwner | undefined> {
  const app = session.app ?? undefined;
  if (app !== undefined && await deps.definitions.app(workspace.id, app) === undefined) return undefined;
  const grant = userGrant({ id: row.id, workspace: workspace.id, app });
  return { grant, who: { user: showUser(row) }, actor: row.email };
}

/** The outcome for a token, and the access tokens that ended with it. */
interface ExchangeResult {
  /** Undefined for a token that was used before. */
  issued: IssuableDraft | undefined;
  revoked: RevocationRow[];
}

/** Rotates, unless the token had been used or revoked before: used twice, it ends the whole login. */
async function exchange(
  sql: Sql,
  deps: RefreshDeps,
  { presented, holder, draft, sent, reuseMs }: {
    presented: Presented;
    holder: SessionOwner;
    draft: SessionDraft;
    sent: Exchange;
    reuseMs: number;
  },
): Promise<ExchangeResult> {
  const { schema, session: { id, family, kind, principal_id, created_at } } = presented;
  const { origin, now } = sent;
  await lockFamily(sql, family);
  // Waits for a change of credentials under way, which then has revoked this session, and holds the next one off.
  if (kind === 'master') await findMaster(sql, principal_id);
  if (kind === 'user') await lockUserShared(sql, principal_id);
  // The policy of now counts, too.
  const isOver = created_at.getTime() + draft.refreshTtl * 1_000 <= now.getTime();
  if (!isOver && await rotateSession(sql, schema, { id, now })) {
    await insertSession(sql, schema, draft.row);
    return { issued: draft, revoked: [] };
  }
  const again = isOver || sent.isFromCookie !== true
    ? undefined
    : await findSuccessor(sql, deps, { schema, sent, reuseMs });
  if (again !== undefined) return { issued: { ...draft, ...again }, revoked: [] };
  const ended = await revokeReusedFamily(sql, schema, { id, family, now });
  if (ended.length === 0) return { issued: undefined, revoked: [] };
  const { actor } = holder;
  const event = { actor, action: 'token_reuse', target: actor, details: { as: kind, family }, origin };
  await auditInSchema(sql, deps, schema, event);
  // The user of a stolen token has access tokens too.
  const revoked = await revokeSessionTokens(sql, deps, { schema, sessions: idsWithLiveTokens(ended, now) });
  return { issued: undefined, revoked };
}

/**
 * The newest token that came of one that was used a moment ago, and its session; undefined when its use is longer ago, or
 * its login has ended.
 */
async function findSuccessor(
  sql: Sql,
  { secrets }: RefreshDeps,
  { schema, sent: { token, now }, reuseMs }: { schema: ServerSchema; sent: Exchange; reuseMs: number },
): Promise<Pick<IssuableDraft, 'row' | 'refreshToken'> | undefined> {
  let refreshToken = token;
  let row = await findSession(sql, schema, { tokenHash: hashToken(token) });
  while (row !== undefined && row.rotated_at !== null) {
    // A clock that was set back makes no use younger.
    if (Math.abs(now.getTime() - row.rotated_at.getTime()) >= reuseMs) return undefined;
    const next = makeSuccessor(secrets, refreshToken);
    refreshToken = next.text;
    row = await findSession(sql, schema, { tokenHash: next.hash });
  }
  return row !== undefined && row.revoked_at === null && row.expires_at > now
    ? { row, refreshToken }
    : undefined;
}

function refuse(): never {
  fail('unauthorized', 'the refresh token is not valid, expired or has been used');
}
