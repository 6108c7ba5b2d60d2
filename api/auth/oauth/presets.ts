// Providers that need only a client id and a secret, by the name that they are configured under.

/** The endpoints of well-known providers, from their operators' documentation. */
export interface Preset {
  auth_url: string;
  token_url: string;
  userinfo_url: string;
  /** Of its ID tokens; none where it is another one for each of the provider's own tenants. */
  issuer?: string;
  scopes: readonly string[];
  /** How the user is described: OpenID Connect Core section 5.3, or GitHub's own way. */
  profile: 'openid' | 'github';
}

/** One row a preset. */
export const presets = {
  /** https://accounts.google.com/.well-known/openid-configuration */
  google: {
    auth_url: 'https://accounts.google.com/o/oauth2/v2/auth',
    token_url: 'https://oauth2.googleapis.com/token',
    userinfo_url: 'https://openidconnect.googleapis.com/v1/userinfo',
    issuer: 'https://accounts.google.com',
    scopes: ['openid', 'email', 'profile'],
    profile: 'openid',
  },
  /** https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps */
  github: {
    auth_url: 'https://github.com/login/oauth/authorize',
    token_url: 'https://github.com/login/oauth/access_token',
    userinfo_url: 'https://api.github.com/user',
    scopes: ['read:user', 'user:email'],
    profile: 'github',
  },
  /** https://login.microsoftonline.com/common/v2.0/.well-known/openid-configuration */
  microsoft: {
    auth_url: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    token_url: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    userinfo_url: 'https://graph.microsoft.com/oidc/userinfo',
    scopes: ['openid', 'email', 'profile'],
    profile: 'openid',
  },
} as const satisfies Record<string, Preset>;

/** A name of the table above. */
export type PresetName = keyof typeof presets;

/** The preset that a provider of this name is, or null. */
export function findPresetName(provider: string): PresetName | null {
  return isPresetName(provider) ? provider : null;
}

function isPresetName(provider: string): provider is PresetName {
  return Object.hasOwn(presets, provider);
}

/** How a provider of this name describes its users. */
export function profileStyle(provider: string): Preset['profile'] {
  const name = findPresetName(provider);
  return name === null ? 'openid' : presets[name].profile;
}
