// Sessions: a refresh token in a table, and the access token that goes with it.
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import { uuidTime } from '../../../storage/sql/ids.ts';
import type { Connection } from '../../../storage/connections/pool.ts';
import type { ServerSchema, SessionKind, SessionRow } from '../../../storage/sessions.ts';
import type { Deps } from '../../deps.ts';
import { maxTokenLifeMs } from '../../policies/definitions.ts';
import type { RequestOrigin } from '../../contract/route.ts';
import type { TenantPath } from '../../scope.ts';
import type { Grant } from '../tokens/claims.ts';
import type { TokenPair } from './cookies.ts';
import { makeRefreshToken, makeSuccessor } from '../tokens/refresh-tokens.ts';

/** A session that is about to begin. */
export interface SessionStart {
  /**
   * Of `revocations.newId`, made before the principal's row was read: whatever changes the row afterwards revokes up to
   * a later instant, and so catches this session.
   */
  id: string;
  /** The id of the login's first session, and the refresh token that is exchanged; left out for a new login. */
  exchanged?: { family: string; token: string };
  kind: SessionKind;
  grant: Grant;
  /** The only app that the tokens are good for. */
  app: string | undefined;
  origin: RequestOrigin;
}

/** A row to be stored, and what becomes its tokens once it is. */
export interface SessionDraft {
  row: SessionRow;
  refreshToken: string;
  accessTtl: number;
  refreshTtl: number;
  grant: Grant;
}

/** Where sessions of a workspace, or of the server itself (undefined), are kept. */
export function sessionStore(
  { databases }: Pick<Deps, 'databases'>,
  workspace: WorkspaceDefinition | undefined,
): { connection: Connection; schema: ServerSchema } {
  return workspace === undefined
    ? { connection: databases.control, schema: 'control' }
    : { connection: databases.workspace(workspace.database), schema: 'workspace' };
}

/** How long the tokens of a place live, in seconds. */
export interface SessionTerms {
  accessTtl: number;
  refreshTtl: number;
}

/** Prepares a session; it begins when its row is stored. */
export async function draftSession(
  deps: Pick<Deps, 'secrets' | 'policies' | 'now'>,
  start: SessionStart,
): Promise<SessionDraft> {
  const terms = await sessionTerms(deps, { workspace: start.grant.workspace, app: start.app });
  return prepareSession(deps, start, terms);
}

/** By the policies of the place. */
export async function sessionTerms(
  { policies }: Pick<Deps, 'policies'>,
  place: TenantPath,
): Promise<SessionTerms> {
  const access = await policies.range('tokens.access_ttl_sec', place);
  const refresh = await policies.range('tokens.refresh_ttl_sec', place);
  return { accessTtl: access.value, refreshTtl: refresh.value };
}

/** The same as `draftSession` for terms that are known: for use inside a transaction. */
export function prepareSession(
  { secrets, now }: Pick<Deps, 'secrets' | 'now'>,
  { id, exchanged, kind, grant, app, origin }: SessionStart,
  { accessTtl, refreshTtl }: SessionTerms,
): SessionDraft {
  const token = exchanged === undefined
    ? makeRefreshToken(secrets, grant.workspace)
    : makeSuccessor(secrets, exchanged.token);
  // The id may be ahead of a clock that was set back; the tokens live no longer for it.
  const begins = Math.min(uuidTime(id), now().getTime());
  return {
    row: {
      id,
      family: exchanged?.family ?? id,
      kind,
      principal_id: grant.id,
      app: app ?? null,
      token_hash: token.hash,
      created_at: new Date(begins),
      expires_at: new Date(begins + refreshTtl * 1_000),
      user_agent: origin.userAgent.slice(0, 500),
      ip: origin.ip,
    },
    refreshToken: token.text,
    accessTtl,
    refreshTtl,
    grant,
  };
}

/** Of sessions that ended, the ids of those whose access tokens may still be good. */
export function idsWithLiveTokens(
  ended: readonly Pick<SessionRow, 'id' | 'created_at'>[],
  now: Date,
): string[] {
  return ended
    .filter(({ created_at }) => now.getTime() - created_at.getTime() < maxTokenLifeMs)
    .map(({ id }) => id);
}

/** The parts of a draft that become tokens. */
export type IssuableDraft = Omit<SessionDraft, 'row'> & { row: Pick<SessionRow, 'id' | 'created_at'> };

/** The tokens of a session whose row is stored. */
export async function issueTokens(
  { tokens }: Pick<Deps, 'tokens'>,
  { row, grant, refreshToken, accessTtl, refreshTtl }: IssuableDraft,
): Promise<TokenPair> {
  const issuedAt = row.created_at.getTime();
  const accessToken = await tokens.issue(grant, { jti: row.id, issuedAt, ttlSeconds: accessTtl });
  return { access_token: accessToken, refresh_token: refreshToken, accessTtl, refreshTtl };
}
