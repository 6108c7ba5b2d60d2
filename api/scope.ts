// Who may do what, as data: every route names a scope; a scope is decided from the token's claims alone.

/** The `role` claim of an access token. */
export type Role = 'master_admin' | 'workspace_admin' | 'app_admin' | 'user';

/** Who is asking, as their access token says. */
export interface Principal {
  role: Role;
  /** Id of the admin or user. */
  id: string;
  /** Absent for a master admin. */
  workspace?: string;
  /** The only apps that the token is good for; absent: every app of the workspace. */
  apps?: readonly string[];
  /** Id of the token, for revocation. */
  jti: string;
  /** When the token was issued and when it ends, in seconds since 1970. */
  issuedAt: number;
  expiresAt: number;
}

/** The workspace and app that a URL names. */
export interface TenantPath {
  workspace?: string | undefined;
  app?: string | undefined;
}

interface ScopeRule {
  /** For the API description. */
  who: string;
  /** Whether a caller without a token may go on. */
  anonymous: boolean;
  admits(principal: Principal, place: TenantPath): boolean;
}

/** Whether the token's claims cover the place at all. */
function reaches(principal: Principal, { workspace, app }: TenantPath): boolean {
  if (principal.role === 'master_admin') return true;
  if (workspace !== undefined && principal.workspace !== workspace) return false;
  return app === undefined || principal.apps === undefined || principal.apps.includes(app);
}

const isAdmin = ({ role }: Principal) => role !== 'user';

/** The scopes. `open` routes ignore a token; `anyone` routes refuse a bad one or one of another workspace. */
export const scopes = {
  open: { who: 'anyone; a token is ignored', anonymous: true, admits: () => true },
  anyone: { who: 'anyone', anonymous: true, admits: reaches },
  master: { who: 'master admin', anonymous: false, admits: (p) => p.role === 'master_admin' },
  admin: { who: 'any admin', anonymous: false, admits: isAdmin },
  realm: {
    who: 'any admin of the workspace',
    anonymous: false,
    admits: (p, at) => isAdmin(p) && reaches(p, at),
  },
  workspace_admin: {
    who: 'workspace admin or above',
    anonymous: false,
    admits: (p, at) => (p.role === 'master_admin' || p.role === 'workspace_admin') && reaches(p, at),
  },
  app_admin: { who: 'app admin or above', anonymous: false, admits: (p, at) => isAdmin(p) && reaches(p, at) },
  user: { who: 'end-user', anonymous: false, admits: (p, at) => p.role === 'user' && reaches(p, at) },
  member: { who: 'anyone signed in', anonymous: false, admits: reaches },
} as const satisfies Record<string, ScopeRule>;

/** A name of the table above. */
export type Scope = keyof typeof scopes;

/** Decides a scope without asking the database. */
export function decideScope(
  scope: Scope,
  principal: Principal | null,
  place: TenantPath,
): 'allow' | 'unauthorized' | 'forbidden' {
  const rule: ScopeRule = scopes[scope];
  if (principal === null) return rule.anonymous ? 'allow' : 'unauthorized';
  return rule.admits(principal, place) ? 'allow' : 'forbidden';
}

/** Whether this principal passes every access rule of the app (decisions: admins with access to it do). */
export function bypassesRules(principal: Principal | null, place: TenantPath): boolean {
  return principal !== null && isAdmin(principal) && reaches(principal, place);
}
