// The parts of a process that features depend on, made once in main.ts. A function takes a `Pick` of them.
import type { BlobStore } from '../storage/blobs/blob-store.ts';
import type { ByteBudget } from '../storage/concurrency/byte-budget.ts';
import type { KeyedMutex } from '../storage/concurrency/keyed-mutex.ts';
import type { Databases } from '../storage/connections/databases.ts';
import type { Provisioning } from '../storage/provision/cluster.ts';
import type { Secrets } from '../storage/secrets.ts';
import type { Upkeep } from '../storage/provision/upkeep.ts';
import type { Config, Sandbox } from '../supervisor/protocol.ts';
import type { SealQueue } from './audit/ports.ts';
import type { ApiKeys } from './auth/keys/api-keys.ts';
import type { IssuerKeys } from './auth/oauth/issuer-keys.ts';
import type { Passwords } from './auth/passwords/passwords.ts';
import type { AllowedOrigins } from './auth/sessions/allowed-origins.ts';
import type { Revocations } from './auth/tokens/revocations.ts';
import type { SigningKeys } from './auth/tokens/signing-keys.ts';
import type { AccessTokens } from './auth/tokens/tokens.ts';
import type { Egress } from './egress/client.ts';
import type { Hosts } from './http/hosts/hosts.ts';
import type { Hooks } from './hooks/ports.ts';
import type { MailQueue } from './mail/message.ts';
import type { Observe } from './logging/events.ts';
import type { SpentShares } from './logging/spent-shares.ts';
import type { DatabaseSettings } from './policies/database-limits.ts';
import type { PolicyCache } from './policies/cache.ts';
import type { Policies } from './policies/effective.ts';
import type { FileLinks, RecordCache, UnheldFiles } from './records/ports.ts';
import type { Imports } from './records/transfer/imports.ts';
import type { Hub } from './realtime/hub.ts';
import type { Definitions } from './target.ts';
import type { Traffic } from './process/load.ts';
import type { ActivityMeter } from './usage/activity.ts';
import type { DiskReserve } from './usage/disk-reserve.ts';
import type { UploadPace } from './usage/upload-pace.ts';
import type { MailBudgets } from './usage/mail-budgets.ts';
import type { Quotas } from './usage/quotas.ts';

/** The parts of one API process. */
export interface Deps {
  config: Config;
  /** The names of the server and of its apps. */
  hosts: Hosts;
  /** The clock, which a request reads once. */
  now: () => Date;
  /** Makes a UUID of version 7. */
  newId: () => string;
  databases: Databases;
  /** The bytes of files. */
  blobs: BlobStore;
  /** Creates and drops databases, roles and schemas. */
  provisioning: Provisioning;
  /** Drops deleted databases and makes spare ones, in the background. */
  upkeep: Upkeep;
  /** Encryption at rest, derived from the master key. */
  secrets: Secrets;
  definitions: Definitions;
  /** Records and totals that were read before. */
  recordCache: RecordCache;
  /** Orders writes of the same record. */
  writeOrder: KeyedMutex;
  /** The order of updates that run hooks and depend on what the record has. */
  hookOrder: KeyedMutex;
  /** Deletes files with the last record that holds them. */
  unheldFiles: UnheldFiles;
  /** Shows files in expansions of records. */
  fileLinks: FileLinks;
  /** The imports of records that are under way. */
  imports: Imports;
  /** The subscriptions to collections, which get the changes of records. */
  realtime: Hub;
  /** How busy the process is with requests. */
  traffic: Traffic;
  /** The hooks of apps. */
  hooks: Hooks;
  /** The sandbox of hook runners. */
  sandbox: Sandbox;
  tokens: AccessTokens;
  /** Finds the API keys that requests carry. */
  apiKeys: ApiKeys;
  signingKeys: SigningKeys;
  passwords: Passwords;
  /** The public keys of OpenID providers. */
  issuerKeys: IssuerKeys;
  /** Revokes tokens, or some of their rights, before they expire. */
  revocations: Revocations;
  /** The origins whose pages may call the API. */
  allowedOrigins: AllowedOrigins;
  policies: Policies;
  /** The policies that each level has set. */
  policyCache: PolicyCache;
  /** Keeps the settings of workspaces' databases at what policies say. */
  databaseSettings: DatabaseSettings;
  /** Counts the use of apps. */
  activity: ActivityMeter;
  /** Limits the use of apps, and what they store. */
  quotas: Quotas;
  /** Logs who has used up what. */
  spentShares: SpentShares;
  /** The mails that may be asked for. */
  mailBudgets: MailBudgets;
  /** The memory of large pages. */
  pageBytes: ByteBudget;
  /** Keeps a part of the disk from tenants. */
  disk: DiskReserve;
  /** Slows uploads down. */
  uploadPace: UploadPace;
  /** Mail to end-users. */
  mail: MailQueue;
  /** Requests to other servers. */
  egress: Egress;
  /** Seals the new entries of audit logs. */
  seals: SealQueue;
  observe: Observe;
  /** `initialized` is true once the first-run setup is complete, and stays true. */
  setup: { initialized: boolean };
}
