// Everything a feature may need, built once in main.ts and handed down; a function asks for a `Pick` of it.
import type { BlobStore } from '../storage/blobs/blob-store.ts';
import type { KeyedMutex } from '../storage/concurrency/keyed-mutex.ts';
import type { Databases } from '../storage/connections/databases.ts';
import type { Provisioning } from '../storage/provision/cluster.ts';
import type { Secrets } from '../storage/secrets.ts';
import type { Upkeep } from '../storage/provision/upkeep.ts';
import type { Config, Sandbox } from '../supervisor/protocol.ts';
import type { SealQueue } from './audit/ports.ts';
import type { IssuerKeys } from './auth/oauth/issuer-keys.ts';
import type { Passwords } from './auth/passwords/passwords.ts';
import type { Revocations } from './auth/tokens/revocations.ts';
import type { SigningKeys } from './auth/tokens/signing-keys.ts';
import type { AccessTokens } from './auth/tokens/tokens.ts';
import type { Egress } from './egress/client.ts';
import type { Hooks } from './hooks/ports.ts';
import type { MailQueue } from './mail/message.ts';
import type { Observe } from './logging/events.ts';
import type { PolicyCache } from './policies/cache.ts';
import type { Policies } from './policies/effective.ts';
import type { RecordCache } from './records/ports.ts';
import type { Hub } from './realtime/hub.ts';
import type { Definitions } from './target.ts';
import type { Traffic } from './process/load.ts';
import type { ActivityMeter } from './usage/activity.ts';
import type { Quotas } from './usage/quotas.ts';

/** The parts of one API process. */
export interface Deps {
  config: Config;
  /** The clock; requests read it once. */
  now: () => Date;
  /** A new v7 UUID. */
  newId: () => string;
  databases: Databases;
  /** The bytes of files. */
  blobs: BlobStore;
  /** What making and dropping databases, roles and schemas needs. */
  provisioning: Provisioning;
  /** Reaps and refills in the background. */
  upkeep: Upkeep;
  /** Encryption at rest, derived from the master key. */
  secrets: Secrets;
  definitions: Definitions;
  /** Records and totals that were read before. */
  recordCache: RecordCache;
  /** Orders writes of the same record. */
  writeOrder: KeyedMutex;
  /** Who watches which collection, and is told of writes. */
  realtime: Hub;
  /** Requests that somebody waits for. */
  traffic: Traffic;
  /** The code that apps have put in: what it wants to be called for, and how it is loaded. */
  hooks: Hooks;
  /** The wall that their runners are behind. */
  sandbox: Sandbox;
  tokens: AccessTokens;
  signingKeys: SigningKeys;
  passwords: Passwords;
  /** The public keys of OpenID providers. */
  issuerKeys: IssuerKeys;
  /** Ends or weakens tokens that are still running. */
  revocations: Revocations;
  policies: Policies;
  /** What each level has set, for those who show and change it. */
  policyCache: PolicyCache;
  /** How much apps are used. */
  activity: ActivityMeter;
  /** How much apps may be used, and may hold. */
  quotas: Quotas;
  /** Letters to end-users. */
  mail: MailQueue;
  /** Requests to other servers. */
  egress: Egress;
  /** Hears of new entries of audit logs, and seals them. */
  seals: SealQueue;
  observe: Observe;
  /** Whether the first-run setup is complete; turns true once and stays. */
  setup: { initialized: boolean };
}
