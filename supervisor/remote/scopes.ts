// The scopes of the keys that `bulkhead login` makes: all that a key of the level can have.

/** The levels of admins and keys. */
export type KeyLevel = 'server' | 'workspace' | 'app';

const ofApps = [
  'records:read',
  'records:write',
  'files:read',
  'files:write',
  'definition:read',
  'definition:write',
  'hooks:read',
  'hooks:write',
  'custom:call',
  'policies:read',
  'policies:write',
  'usage:read',
  'audit:read',
  'apps:read',
  'workspaces:read',
];
const ofWorkspaces = [
  ...ofApps,
  'apps:write',
  'users:read',
  'users:write',
  'settings:read',
  'settings:write',
];

/** All scopes of a level. A test compares them with those that the server knows. */
export const loginScopes: Readonly<Record<KeyLevel, readonly string[]>> = {
  app: ofApps,
  workspace: ofWorkspaces,
  server: [...ofWorkspaces, 'workspaces:write', 'outbox:read'],
};
