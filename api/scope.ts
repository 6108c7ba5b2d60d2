// The scopes of routes, as data. A scope is decided by the claims of the token alone.

/** The `role` claim of an access token. */
export type Role = 'master_admin' | 'workspace_admin' | 'app_admin' | 'user';

/** The role of a caller: that of its token, or `api_key`. */
export type CallerRole = Role | 'api_key';

/** The subject of an access token. */
export interface Principal {
  role: CallerRole;
  /** The id of the admin, user or API key. */
  id: string;
  /** Absent for a master admin. */
  workspace?: string;
  /** The only apps that the token is valid for; without it, all apps of the workspace. */
  apps?: readonly string[];
  /** The id of the token, by which it can be revoked. */
  jti: string;
  /** The times at which the token was issued and expires, in seconds since 1970. */
  issuedAt: number;
  expiresAt: number;
  /** The admin who acts as this end-user. */
  impersonator?: Impersonator;
  /** Set for an API key. */
  key?: KeyRights;
}

/** A scope as a key has it (`contract/key-scopes.ts`), perhaps for one workspace, app or collection only. */
export interface KeyGrant {
  scope: string;
  workspace?: string;
  app?: string;
  collection?: string;
}

/** The rights of an API key, within the level that its workspace and apps say. */
export interface KeyRights {
  grants: readonly KeyGrant[];
  maker: KeyMaker;
}

/** The admin who made an API key. */
export interface KeyMaker {
  id: string;
  role: Role;
}

/** An admin who has a token of an end-user. */
export interface Impersonator {
  id: string;
  role: CallerRole;
}

/** The workspace and app that a URL names. */
export interface TenantPath {
  workspace?: string | undefined;
  app?: string | undefined;
}

interface ScopeRule {
  /** A phrase for the API description. */
  who: string;
  /** True when callers need no token. */
  anonymous: boolean;
  admits(principal: Principal, path: TenantPath): boolean;
}

/** The role whose routes a caller may call. An API key has that of its level, and of these routes those of its scopes. */
export function levelOf({ role, workspace, apps }: Principal): Role {
  if (role !== 'api_key') return role;
  if (workspace === undefined) return 'master_admin';
  return apps === undefined ? 'workspace_admin' : 'app_admin';
}

/** True when the claims of the token cover the workspace and the app. */
function covers(principal: Principal, { workspace, app }: TenantPath): boolean {
  if (levelOf(principal) === 'master_admin') return true;
  if (workspace !== undefined && principal.workspace !== workspace) return false;
  return app === undefined || principal.apps === undefined || principal.apps.includes(app);
}

const isAdmin = ({ role }: Principal) => role !== 'user';
const isMaster = (principal: Principal) => levelOf(principal) === 'master_admin';

/** The scopes. `open` routes ignore a token; `anyone` routes refuse a bad one, and one of another workspace. */
export const scopes = {
  open: { who: 'anyone; a token is ignored', anonymous: true, admits: () => true },
  anyone: { who: 'anyone', anonymous: true, admits: covers },
  master: { who: 'master admin', anonymous: false, admits: isMaster },
  admin: { who: 'any admin', anonymous: false, admits: isAdmin },
  realm: {
    who: 'any admin of the workspace',
    anonymous: false,
    admits: (p, at) => isAdmin(p) && covers(p, at),
  },
  workspace_admin: {
    who: 'workspace admin or above',
    anonymous: false,
    admits: (p, at) => (isMaster(p) || levelOf(p) === 'workspace_admin') && covers(p, at),
  },
  app_admin: { who: 'app admin or above', anonymous: false, admits: (p, at) => isAdmin(p) && covers(p, at) },
  user: { who: 'end-user', anonymous: false, admits: (p, at) => p.role === 'user' && covers(p, at) },
  member: { who: 'anyone signed in', anonymous: false, admits: covers },
} as const satisfies Record<string, ScopeRule>;

/** A name of the table above. */
export type Scope = keyof typeof scopes;

/** Decides a scope. */
export function decideScope(
  scope: Scope,
  principal: Principal | null,
  path: TenantPath,
): 'allow' | 'unauthorized' | 'forbidden' {
  const rule: ScopeRule = scopes[scope];
  if (principal === null) return rule.anonymous ? 'allow' : 'unauthorized';
  return rule.admits(principal, path) ? 'allow' : 'forbidden';
}

/** True for admins with access to the app: they pass every access rule. */
export function bypassesRules(principal: Principal | null, path: TenantPath): boolean {
  return principal !== null && isAdmin(principal) && covers(principal, path);
}
