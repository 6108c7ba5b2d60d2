// The policies that the server itself obeys: kind, the server's own bound, default.
import type { Config } from '../../supervisor/protocol.ts';

/** Bounds of a number and the value that holds while nobody chose one. */
export interface RangeDefinition {
  kind: 'range';
  /** One sentence for the reference. */
  meaning: string;
  min: number;
  max(config: Config): number;
  /** `max`: whatever the bounds allow at most. */
  default: 'max' | ((config: Config) => number);
  /** The least and the most that can be made use of, whatever the master sets. */
  usable?: readonly [least: number, most: number];
}

/** A yes or no. */
export interface ToggleDefinition {
  kind: 'toggle';
  meaning: string;
  default: boolean;
}

/** A choice among words: all of them while nobody chose, or none where any word is legal. */
export interface SetDefinition {
  kind: 'enum_set';
  meaning: string;
  allowed: readonly string[];
  /** What a word must look like, where the words are not all known. */
  word?: { pattern: RegExp; hint: string };
}

/** A row of the table below. */
export type AnyDefinition = RangeDefinition | ToggleDefinition | SetDefinition;

/** A maximum that bounds nothing: what quotas have until somebody sets another. */
export const unlimitedQuota = Number.MAX_SAFE_INTEGER;

const host = '(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\\[[0-9a-f:.]+\\])';
/** 1 to 65535. */
const port = '(?:[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d\\d|655[0-2]\\d|6553[0-5])';

/** Ten years in seconds: an instant that far away can still be written. */
const decade = 315_360_000;

/** One row a policy. The bounds stand at the system level until the master sets others. */
export const policyDefinitions = {
  'password.length': {
    kind: 'range',
    meaning: 'Length of a password in characters.',
    min: 8,
    max: () => 256,
    default: 'max',
  },
  'password.require_upper': {
    kind: 'toggle',
    meaning: 'Passwords need an upper-case letter.',
    default: false,
  },
  'password.require_lower': {
    kind: 'toggle',
    meaning: 'Passwords need a lower-case letter.',
    default: false,
  },
  'password.require_digit': { kind: 'toggle', meaning: 'Passwords need a digit.', default: false },
  'password.require_symbol': {
    kind: 'toggle',
    meaning: 'Passwords need a character that is neither a letter nor a digit.',
    default: false,
  },
  'tokens.access_ttl_sec': {
    kind: 'range',
    meaning: 'Lifetime of an access token in seconds.',
    min: 1,
    max: () => 86_400,
    default: () => 900,
    // Revocations are kept for this long.
    usable: [1, 86_400],
  },
  'tokens.refresh_ttl_sec': {
    kind: 'range',
    meaning: 'Lifetime of a refresh token in seconds.',
    min: 1,
    max: () => 31_536_000,
    default: () => 2_592_000,
    usable: [1, decade],
  },
  'otp.ttl_sec': {
    kind: 'range',
    meaning: 'Lifetime of a mailed code in seconds.',
    min: 1,
    max: () => 3_600,
    default: ({ auth }) => auth.otp_ttl_sec,
    usable: [1, decade],
  },
  'storage.max_upload_mb': {
    kind: 'range',
    meaning: 'Largest upload in MB of 1,048,576 bytes.',
    min: 0,
    max: () => 10,
    default: 'max',
  },
  'hooks.timeout_ms': {
    kind: 'range',
    meaning: 'Longest call of a hook in milliseconds.',
    min: 1,
    max: () => 30_000,
    default: ({ hooks }) => hooks.timeout_ms,
    // A timer fires at once when it is set for longer.
    usable: [1, 2_147_483_647],
  },
  'hooks.memory_mb': {
    kind: 'range',
    meaning: 'Memory of an app’s hook process in MB.',
    min: 128,
    max: ({ hooks }) => hooks.memory_mb,
    default: 'max',
  },
  'hooks.egress': {
    kind: 'enum_set',
    meaning: 'Hosts that hooks may send requests to.',
    allowed: [],
    word: {
      pattern: new RegExp(`^${host}(?::${port})?$`),
      hint: 'must be `host` or `host:port`, in lower case, with a port from 1 to 65535',
    },
  },
  'auth.methods': {
    kind: 'enum_set',
    meaning: 'Ways in which end-users may sign in.',
    allowed: ['password', 'otp', 'oauth'],
  },
  'quota.storage_mb': {
    kind: 'range',
    meaning: 'Size of an app’s tables, indexes and files, in MB of 1,048,576 bytes.',
    min: 0,
    max: () => unlimitedQuota,
    default: 'max',
  },
  'quota.records': {
    kind: 'range',
    meaning: 'Records of an app, in all its collections.',
    min: 0,
    max: () => unlimitedQuota,
    default: 'max',
  },
  'quota.users': {
    kind: 'range',
    meaning: 'End-users of a workspace.',
    min: 0,
    max: () => unlimitedQuota,
    default: 'max',
  },
  'quota.requests_per_sec': {
    kind: 'range',
    meaning: 'Requests to an app in a second, from all callers. Administration requests do not count.',
    min: 0,
    max: () => unlimitedQuota,
    default: 'max',
  },
} as const satisfies Record<string, AnyDefinition>;

type Definitions = typeof policyDefinitions;
type NameOf<Kind> = {
  [Name in keyof Definitions]: Definitions[Name]['kind'] extends Kind ? Name : never;
}[keyof Definitions];

/** Names of the policies that bound a number. */
export type RangePolicy = NameOf<'range'>;
/** Names of the policies that say yes or no. */
export type TogglePolicy = NameOf<'toggle'>;
/** Names of the policies that list words. */
export type SetPolicy = NameOf<'enum_set'>;

/** No access token lives longer, in milliseconds. */
export const maxTokenLifeMs = policyDefinitions['tokens.access_ttl_sec'].max() * 1_000;
