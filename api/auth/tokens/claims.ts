// The claims of an access token (RFC 7519), written and read.
import { uuidTime } from '../../../storage/sql/ids.ts';
import { fail } from '../../errors.ts';
import type { Impersonator, Principal, Role } from '../../scope.ts';

/** The rights that a token gives its bearer. */
export interface Grant {
  role: Role;
  /** Id of the admin or user. */
  id: string;
  /** Absent for a master admin. */
  workspace?: string;
  /** The only apps that the token is good for; absent: every app of the workspace. */
  apps?: readonly string[];
  /** The login asked for less than the principal may do; a later change of rights must not add to it. */
  narrowed?: boolean;
  /** The admin who acts as the end-user. */
  impersonator?: Impersonator;
}

/** A token's claims, as far as they matter, before revocations are applied. */
export interface IssuedToken {
  principal: Principal;
  narrowed: boolean;
  /** When it was issued, in milliseconds since 1970. */
  issuedAt: number;
}

/** The claims that say what a grant is about; `app` is text for one app and a list otherwise, like `aud`. */
export function toClaims({ role, workspace, apps, narrowed, impersonator }: Grant): Record<string, unknown> {
  const [first, ...others] = apps ?? [];
  return {
    role,
    ...(workspace === undefined ? {} : { workspace }),
    ...(apps === undefined ? {} : { app: first !== undefined && others.length === 0 ? first : [...apps] }),
    ...(narrowed === true ? { narrowed } : {}),
    // The actor claim of RFC 8693 section 4.1.
    ...(impersonator === undefined ? {} : { act: { sub: impersonator.id, role: impersonator.role } }),
  };
}

const roles: readonly Role[] = ['master_admin', 'workspace_admin', 'app_admin', 'user'];
const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Reads the claims of a token whose signature, issuer and times are good. `legacyId` stands in for a `jti`, which
 * tokens of earlier releases may lack. Throws `401 unauthorized`.
 */
export function readClaims(payload: Readonly<Record<string, unknown>>, legacyId?: string): IssuedToken {
  const { sub, iat, exp } = payload;
  const role = roles.find((known) => known === payload.role);
  const jti = typeof payload.jti === 'string' ? payload.jti : legacyId;
  const workspace = readWorkspace(role, payload.workspace);
  if (role === undefined || typeof sub !== 'string' || sub === '' || jti === undefined) refuse();
  if (typeof iat !== 'number' || typeof exp !== 'number' || 'aud' in payload) refuse();
  const apps = readApps(role, payload.app);
  const impersonator = readImpersonator(role, payload.act);
  return {
    principal: {
      role,
      id: sub,
      jti,
      issuedAt: iat,
      expiresAt: exp,
      ...(workspace === undefined ? {} : { workspace }),
      ...(apps === undefined ? {} : { apps }),
      ...(impersonator === undefined ? {} : { impersonator }),
    },
    narrowed: payload.narrowed === true,
    // `iat` has whole seconds; our own ids know the millisecond, so that a token issued right after a revocation in
    // the same second is good.
    issuedAt: uuidV7.test(jti) ? uuidTime(jti) : iat * 1_000,
  };
}

/** A master token has no workspace, every other one has. */
function readWorkspace(role: Role | undefined, workspace: unknown): string | undefined {
  if (role === 'master_admin') return workspace === undefined ? undefined : refuse();
  return typeof workspace === 'string' && workspace !== '' ? workspace : refuse();
}

/** A master or workspace admin is never bound to apps, an app admin always. */
function readApps(role: Role, app: unknown): string[] | undefined {
  if (role === 'master_admin' || role === 'workspace_admin') return app === undefined ? undefined : refuse();
  if (app === undefined) return role === 'user' ? undefined : refuse();
  if (typeof app === 'string') return [app];
  return Array.isArray(app) && app.every((id) => typeof id === 'string') ? app : refuse();
}

/** Only an end-user has an actor, and only an admin is one. */
function readImpersonator(role: Role, act: unknown): Impersonator | undefined {
  if (act === undefined) return undefined;
  if (role !== 'user' || typeof act !== 'object' || act === null) refuse();
  const actor = roles.find((known) => 'role' in act && known === act.role);
  if (actor === undefined || actor === 'user' || !('sub' in act) || typeof act.sub !== 'string') refuse();
  return { id: act.sub, role: actor };
}

function refuse(): never {
  fail('unauthorized', 'the access token is not valid');
}
