// A workspace admin sets up, changes or removes a provider.
import { clientSecretOwner } from '../../../storage/secrets.ts';
import type { WorkspaceDefinition } from '../../../storage/definition.ts';
import {
  deleteProvider,
  findProvider,
  type ProviderRow,
  putProvider,
} from '../../../storage/workspace/oauth-providers.ts';
import { type Caller, readActorName } from '../../audit/actor.ts';
import { auditWorkspace } from '../../audit/write.ts';
import type { Deps } from '../../deps.ts';
import { failValidation, type FieldError, reasons } from '../../errors.ts';
import type { ValueOf } from '../../contract/schema.ts';
import { findPresetName, type Preset, presets } from './presets.ts';
import {
  failNoProvider,
  isProviderName,
  type Provider,
  type providerInput,
  showProvider,
} from './provider.ts';
import { redirectUriObjection } from './redirect-uri.ts';

type Input = ValueOf<typeof providerInput>;

const defaultScopes = ['openid', 'email', 'profile'];
const urlNames = ['auth_url', 'token_url', 'userinfo_url'] as const;

/**
 * Sets all of a provider but its secret, which is kept when none is given; sign-ins that are under way there end.
 * Throws `400 validation`.
 */
export async function setProvider(
  deps: Pick<Deps, 'databases' | 'egress' | 'secrets' | 'newId' | 'now'>,
  { workspace, name }: { workspace: WorkspaceDefinition; name: string },
  { input, principal, origin, now }: { input: Input } & Caller,
): Promise<Provider> {
  const settled = completeSettings(deps, name, input);
  const actor = await readActorName(deps, principal);
  const { client_id, client_secret: secret } = input;
  const client_secret_sealed = secret === undefined ? null : deps.secrets.seal(
    'oauth-client-secret',
    clientSecretOwner(workspace.database, name),
    Buffer.from(secret),
  );
  const row = { provider: name, client_id, client_secret_sealed, ...settled };
  const stored = await deps.databases.workspace(workspace.database).transaction(async (sql) => {
    const before = await findProvider(sql, name);
    const stored = await putProvider(sql, row, now);
    const details = {
      ...auditDetails(stored),
      secret_changed: secret !== undefined,
      from: auditDetails(before),
    };
    await auditWorkspace(sql, deps, { actor, action: 'provider_set', target: name, details, origin });
    return stored;
  });
  return showProvider(stored);
}

/** Users who came by it stay, and so do their links. Throws `404 not_found`. */
export async function removeProvider(
  deps: Pick<Deps, 'databases' | 'newId' | 'now'>,
  { workspace, name }: { workspace: WorkspaceDefinition; name: string },
  { principal, origin }: Caller,
): Promise<void> {
  if (!isProviderName(name)) failNoProvider(name);
  const actor = await readActorName(deps, principal);
  await deps.databases.workspace(workspace.database).transaction(async (sql) => {
    const details = { from: auditDetails(await findProvider(sql, name)) };
    if (!await deleteProvider(sql, name)) failNoProvider(name);
    await auditWorkspace(sql, deps, { actor, action: 'provider_delete', target: name, details, origin });
  });
}

/** The audit log's entry for a provider; null for one that was not there. */
function auditDetails(row: ProviderRow | undefined): Record<string, unknown> | null {
  if (row === undefined) return null;
  const { provider: _name, client_secret_sealed: _secret, ...shown } = row;
  return shown;
}

type ProviderSettings = Omit<ProviderRow, 'provider' | 'client_id' | 'client_secret_sealed'>;

/** Fills in what the preset knows, and names everything that is wrong at once. */
function completeSettings(
  { egress }: Pick<Deps, 'egress'>,
  name: string,
  { config = {} }: Input,
): ProviderSettings {
  const errors: FieldError[] = [];
  if (!isProviderName(name)) {
    errors.push({ field: 'provider', reason: 'must be 1 to 40 of a-z, 0-9, - and _, and not "providers"' });
  }
  const presetName = findPresetName(name);
  const preset: Preset | undefined = presetName === null ? undefined : presets[presetName];
  const urls = { auth_url: '', token_url: '', userinfo_url: '' };
  for (const member of urlNames) {
    const text = config[member] ?? preset?.[member];
    const reason = text === undefined ? reasons.required : urlObjection(egress, text);
    if (reason !== undefined) errors.push({ field: `config.${member}`, reason });
    urls[member] = text ?? '';
  }
  const scopes = config.scopes ?? [...preset?.scopes ?? defaultScopes];
  const issuer = config.issuer === undefined ? defaultIssuer(preset, urls, scopes) : config.issuer;
  const reason = issuer === null ? undefined : issuerObjection(egress, issuer, scopes);
  if (reason !== undefined) errors.push({ field: 'config.issuer', reason });
  for (const uri of config.redirect_uris ?? []) {
    const reason = redirectUriObjection(uri);
    if (reason !== undefined) errors.push({ field: 'config.redirect_uris', reason });
  }
  if (errors.length > 0) failValidation(errors);
  return {
    ...urls,
    issuer,
    scopes,
    redirect_uris: config.redirect_uris ?? null,
    token_auth_method: config.token_auth_method ?? 'client_secret_post',
  };
}

/** A preset's own, where it is asked for ID tokens. */
function defaultIssuer(
  preset: Preset | undefined,
  { token_url }: { token_url: string },
  scopes: readonly string[],
): string | null {
  const isAsked = preset?.token_url === token_url && scopes.includes('openid');
  return isAsked ? preset.issuer ?? null : null;
}

/** OpenID Connect Discovery 1.0 section 3; without the scope there are no ID tokens. */
function issuerObjection(
  egress: Deps['egress'],
  text: string,
  scopes: readonly string[],
): string | undefined {
  if (!scopes.includes('openid')) return 'needs the scope openid';
  return text.includes('?') ? 'must not have a query' : urlObjection(egress, text);
}

/** A name is let through here: what it resolves to is looked at when it is connected to. */
function urlObjection({ objection }: Deps['egress'], text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null) return 'must be an http or https URL';
  return text.includes('#') ? 'must not have a fragment' : objection(url);
}
