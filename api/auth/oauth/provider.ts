// A workspace's OAuth provider: how it looks in requests and responses, and how it is found.
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import type { Page, PageRequest } from '../../../storage/sql/page.ts';
import {
  findProvider,
  type ProviderRow,
  selectProviders as listRows,
} from '../../../storage/workspace/oauth-providers.ts';
import type { Deps } from '../../deps.ts';
import { fail } from '../../errors.ts';
import {
  array,
  boolean,
  described,
  nullable,
  object,
  oneOf,
  optional,
  string,
  type ValueOf,
} from '../../contract/schema.ts';
import { findPresetName } from './presets.ts';

const url = string({ min: 1, max: 2_000 });
/** RFC 6749 section 3.3. */
const scope = string({ min: 1, max: 200, pattern: /^[\x21\x23-\x5b\x5d-\x7e]+$/, hint: 'must be a scope' });
/** RFC 6749 appendix A. */
const printable = { pattern: /^[\x20-\x7e]+$/, hint: 'must be printable ASCII' };
const tokenAuthMethod = oneOf(['client_secret_post', 'client_secret_basic']);

const redirectUris = described(
  array(string({ min: 1, max: 2_000 }), { max: 100 }),
  'The only URIs that users may be sent back to, compared character by character. Null: any http or https URL.',
);

/** A provider as an admin writes it. */
export const providerInput = object({
  client_id: string({ min: 1, max: 500, ...printable }),
  client_secret: described(
    optional(string({ min: 1, max: 4_000, ...printable })),
    'Unchanged when left out; never returned.',
  ),
  config: described(
    optional(object({
      auth_url: optional(url),
      token_url: optional(url),
      userinfo_url: optional(url),
      issuer: described(
        optional(nullable(url)),
        'Issuer of an OpenID provider. With it, ID tokens are checked, and a sign-in without one is refused.',
      ),
      scopes: optional(array(scope, { max: 50 })),
      redirect_uris: optional(nullable(redirectUris)),
      token_auth_method: optional(tokenAuthMethod),
    })),
    'The URLs may be left out for google, github and microsoft.',
  ),
});

/** A provider as an admin reads it. */
export const providerResponse = object({
  provider: string(),
  client_id: string(),
  has_secret: boolean(),
  config: object({
    auth_url: string({ format: 'uri' }),
    token_url: string({ format: 'uri' }),
    userinfo_url: string({ format: 'uri' }),
    issuer: nullable(string({ format: 'uri' })),
    scopes: array(string()),
    redirect_uris: nullable(redirectUris),
    token_auth_method: tokenAuthMethod,
  }),
  preset: described(nullable(string()), 'Name of the known provider that supplies what is left out.'),
});

/** The type of that. */
export type Provider = ValueOf<typeof providerResponse>;

/** A provider, without its secret. */
export function showProvider(
  { provider, client_id, client_secret_sealed, ...config }: ProviderRow,
): Provider {
  return {
    provider,
    client_id,
    has_secret: client_secret_sealed !== null,
    config,
    preset: findPresetName(provider),
  };
}

const namePattern = /^[a-z0-9][a-z0-9_-]{0,39}$/;
/** They would be taken for another route. */
const reserved = new Set(['providers']);

/** True when a provider can have this name. Other names are never sent to the database, which rejects some of them. */
export function isProviderName(name: string): boolean {
  return namePattern.test(name) && !reserved.has(name);
}

/** Throws `404 not_found`. */
export async function requireProvider(
  { databases }: Pick<Deps, 'databases'>,
  { database }: WorkspaceDefinition,
  name: string,
): Promise<ProviderRow> {
  if (!isProviderName(name)) failNoProvider(name);
  return await databases.workspace(database).run((sql) => findProvider(sql, name)) ?? failNoProvider(name);
}

/** In the order of their names. */
export async function listProviders(
  { databases }: Pick<Deps, 'databases'>,
  { database }: WorkspaceDefinition,
  page: PageRequest,
): Promise<Page<Provider>> {
  const found = await databases.workspace(database).run((sql) => listRows(sql, page));
  return { ...found, items: found.items.map(showProvider) };
}

/** Ends a request for a provider that is not configured. */
export function failNoProvider(name: string): never {
  fail('not_found', `there is no provider "${name}"`);
}
