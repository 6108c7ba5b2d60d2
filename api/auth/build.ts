// Builds the parts of authentication in one process.
import type { Change } from '../../storage/control/changes.ts';
import type { Deps } from '../deps.ts';
import { maxTokenLifeMs } from '../policies/definitions.ts';
import { effectivePolicies } from '../policies/effective.ts';
import { ApiKeys } from './keys/api-keys.ts';
import { IssuerKeys } from './oauth/issuer-keys.ts';
import { Passwords } from './passwords/passwords.ts';
import { Revocations } from './tokens/revocations.ts';
import { openSigningKeys } from './tokens/signing-keys.ts';
import { AllowedOrigins } from './sessions/allowed-origins.ts';
import { Tokens } from './tokens/tokens.ts';

/** The parts of authentication, as main.ts uses them. */
export interface Auth {
  parts: Pick<
    Deps,
    | 'tokens'
    | 'apiKeys'
    | 'signingKeys'
    | 'passwords'
    | 'issuerKeys'
    | 'revocations'
    | 'policies'
    | 'allowedOrigins'
  >;
  /** Follows a change of this process or of another. */
  onChange(change: Change): void;
  /** Reads everything again, since changes may have been missed. */
  reload(): void;
  /** Resolves once all changes so far are in effect. */
  caughtUp(): Promise<void>;
  close(): Promise<void>;
}

/** Builds the parts, and resolves once tokens can be verified. Throws `StorageError`; `UnsealError` for another master key. */
export async function createAuth(
  deps: Pick<
    Deps,
    'config' | 'databases' | 'secrets' | 'now' | 'newId' | 'observe' | 'policyCache' | 'traffic'
  >,
): Promise<Auth> {
  const { config, databases, now, newId, observe } = deps;
  const milliseconds = () => now().getTime();
  const revocations = new Revocations({ databases, now, newId, observe, maxTokenLifeMs: maxTokenLifeMs });
  const allowedOrigins = new AllowedOrigins(deps);
  const passwords = new Passwords({ isServerBusy: () => deps.traffic.isHeavy() });
  const [signingKeys] = await Promise.all([
    openSigningKeys(deps),
    revocations.reload(),
    allowedOrigins.reload(),
  ]);
  const apiKeys = new ApiKeys({ databases, revocations, now });
  const tokens = new Tokens({
    issuer: config.auth.issuer,
    legacySecret: config.auth.legacy_hs256_secret,
    keys: signingKeys,
    revocations,
    currentKey: (key) => apiKeys.current(key),
    now: milliseconds,
  });
  return {
    parts: {
      tokens,
      apiKeys,
      signingKeys,
      passwords,
      issuerKeys: new IssuerKeys(),
      revocations,
      allowedOrigins,
      policies: effectivePolicies({ config, cache: deps.policyCache }),
    },
    onChange: ({ kind }) => {
      if (kind === 'revocations') void revocations.catchUp();
      if (kind === 'workspace') void allowedOrigins.reload();
    },
    reload: () => void Promise.all([revocations.reload(), allowedOrigins.reload()]),
    caughtUp: async () => void await Promise.all([revocations.caughtUp(), allowedOrigins.caughtUp()]),
    close: async () => {
      revocations.close();
      allowedOrigins.close();
      await passwords.close();
    },
  };
}
