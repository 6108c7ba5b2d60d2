// Scopes of API keys: the closed list, how they are written, and what they admit.
import { fail } from '../errors.ts';
import type { KeyGrant, Principal, TenantPath } from '../scope.ts';

/** The levels of keys, and what a scope can be narrowed to. */
const levels = ['server', 'workspace', 'app', 'collection'] as const;
type Level = (typeof levels)[number];

interface KeyScopeRule {
  /** The lowest level of a key that may have the scope. */
  lowest: Exclude<Level, 'collection'>;
  /** The narrowest part that the scope can be restricted to. */
  narrowest: Level;
  /** For the reference. */
  allows: string;
}

/** All scopes. Each route names one of them, or says that keys may not call it. */
export const keyScopes = {
  'records:read': {
    lowest: 'app',
    narrowest: 'collection',
    allows: 'get, list, aggregate and export records, follow streams',
  },
  'records:write': {
    lowest: 'app',
    narrowest: 'collection',
    allows:
      'create, update, delete and import records. A response shows the whole record, also where nothing of it was changed',
  },
  'files:read': {
    lowest: 'app',
    narrowest: 'app',
    allows: 'list and read all files, make links to them, expand them in records',
  },
  'files:write': {
    lowest: 'app',
    narrowest: 'app',
    allows: 'upload and delete files, also by the forms of records',
  },
  'definition:read': { lowest: 'app', narrowest: 'app', allows: 'read collections, access rules and types' },
  'definition:write': {
    lowest: 'app',
    narrowest: 'app',
    allows: 'change collections and access rules. Who may do so can open all records to everybody',
  },
  'hooks:read': { lowest: 'app', narrowest: 'app', allows: 'read hook files, logs, status and types' },
  'hooks:write': {
    lowest: 'app',
    narrowest: 'app',
    allows:
      'change hook files and variables, run jobs. This code may do all that an app admin may do with records',
  },
  'custom:call': { lowest: 'app', narrowest: 'app', allows: 'call custom routes' },
  'policies:read': { lowest: 'app', narrowest: 'app', allows: 'read policies' },
  'policies:write': { lowest: 'app', narrowest: 'app', allows: 'set and remove policies' },
  'usage:read': { lowest: 'app', narrowest: 'app', allows: 'read what is used of quotas' },
  'audit:read': { lowest: 'app', narrowest: 'app', allows: 'read the audit log' },
  'apps:read': { lowest: 'app', narrowest: 'app', allows: 'list and read apps' },
  'apps:write': { lowest: 'workspace', narrowest: 'app', allows: 'create, rename and delete apps' },
  'users:read': { lowest: 'workspace', narrowest: 'workspace', allows: 'list and read end-users' },
  'users:write': {
    lowest: 'workspace',
    narrowest: 'workspace',
    allows: 'invite, verify and delete end-users',
  },
  'settings:read': {
    lowest: 'workspace',
    narrowest: 'workspace',
    allows: 'read OAuth providers and allowed origins',
  },
  'settings:write': {
    lowest: 'workspace',
    narrowest: 'workspace',
    allows: 'set OAuth providers and allowed origins',
  },
  'workspaces:read': { lowest: 'app', narrowest: 'workspace', allows: 'list and read workspaces' },
  'workspaces:write': {
    lowest: 'server',
    narrowest: 'workspace',
    allows: 'create, change and delete workspaces',
  },
  'outbox:read': {
    lowest: 'server',
    narrowest: 'workspace',
    allows: 'read the mails of the outbox, with the codes and tokens in them',
  },
} as const satisfies Record<string, KeyScopeRule>;

/** The name of a scope. */
export type KeyScope = keyof typeof keyScopes;

/** What a key needs to call a route: a scope, nothing more than being good, or `never`. */
export type KeyAccess = KeyScope | 'any' | 'never';

/** The pattern of scopes, without what only some of them can be narrowed by. */
export const keyScopePattern = `^(?:${Object.keys(keyScopes).join('|')})(?:@[A-Za-z0-9_/-]+)?$`;

const segmentPattern = /^[A-Za-z0-9_-]{1,63}$/;

/** True for a name of the list. */
function isKeyScope(name: string): name is KeyScope {
  return Object.hasOwn(keyScopes, name);
}

/**
 * Reads `scope`, or `scope@part`, where the part is a path below the level of the key: `shop/posts` for a key of a workspace.
 * Returns the reason when it is none.
 */
export function parseKeyGrant(text: string, place: TenantPath): KeyGrant | string {
  const [name = '', part, ...rest] = text.split('@');
  if (!isKeyScope(name)) return `must be one of ${Object.keys(keyScopes).join(', ')}`;
  const level = place.workspace === undefined ? 0 : place.app === undefined ? 1 : 2;
  const { lowest, narrowest } = keyScopes[name];
  if (levels.indexOf(lowest) < level) return `${name} needs a key of the ${lowest}`;
  const grant: KeyGrant = { scope: name };
  if (part === undefined) return grant;
  const segments = part.split('/');
  const isPath = rest.length === 0 && segments.every((segment) => segmentPattern.test(segment));
  const deepest = levels.indexOf(narrowest);
  if (!isPath || level + segments.length > deepest) {
    return level === deepest
      ? `${name} cannot be narrowed for this key`
      : `${name} can be narrowed by @${levels.slice(level + 1, deepest + 1).join('/')}`;
  }
  const members = ['workspace', 'app', 'collection'] as const;
  for (const [index, segment] of segments.entries()) {
    const member = members[level + index];
    if (member !== undefined) grant[member] = segment;
  }
  return grant;
}

/** A place of a request: its path, and the collection unless the rule of each record's collection decides. */
export interface KeyedPlace extends TenantPath {
  collection?: string | undefined;
}

/**
 * True when a grant of the scope covers the place. A place without a collection is covered by a grant for any collection:
 * what is done with records there is decided for each.
 */
export function hasKeyScope(grants: readonly KeyGrant[], scope: KeyScope, at: KeyedPlace): boolean {
  return grants.some((grant) =>
    grant.scope === scope &&
    (grant.workspace === undefined || grant.workspace === at.workspace) &&
    (grant.app === undefined || grant.app === at.app) &&
    (grant.collection === undefined || at.collection === undefined || grant.collection === at.collection)
  );
}

/** False for a key without the scope. Others need none. */
export function mayWithKey(principal: Principal | null, scope: KeyScope, at: KeyedPlace): boolean {
  return principal?.key === undefined || hasKeyScope(principal.key.grants, scope, at);
}

/** Throws `403 forbidden` for a key without the scope. Others need none. */
export function requireKeyScope(principal: Principal | null, access: KeyAccess, at: KeyedPlace): void {
  const key = principal?.key;
  if (key === undefined || access === 'any') return;
  if (access === 'never') fail('forbidden', 'API keys may not do that');
  if (!hasKeyScope(key.grants, access, at)) {
    fail('forbidden', `this API key does not have the scope ${access} here`);
  }
}
