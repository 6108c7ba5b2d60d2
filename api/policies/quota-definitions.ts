// The built-in policies that are quotas: of what a workspace or an app may have, and of what may be asked for in a time.
import type { RangeDefinition } from './definition-kinds.ts';

/** The maximum of a quota without a limit. */
export const unlimitedQuota = Number.MAX_SAFE_INTEGER;

/** The quotas. See `policyDefinitions`. */
export const quotaDefinitions = {
  'quota.storage_mb': {
    kind: 'range',
    meaning:
      'Size of tables, indexes and files, in MB of 1,048,576 bytes: of an app, and of a workspace with all its apps.',
    min: 0,
    max: () => 10_240,
    default: 'max',
  },
  'quota.records': {
    kind: 'range',
    meaning: 'Records of an app, in all its collections.',
    min: 0,
    max: () => unlimitedQuota,
    default: 'max',
  },
  'quota.upload_mb_per_sec': {
    kind: 'range',
    meaning: 'MB a second that a workspace may upload. Faster uploads are slowed down.',
    min: 1,
    max: () => 400,
    default: 'max',
  },
  'quota.files': {
    kind: 'range',
    meaning: 'Files of an app.',
    min: 0,
    max: () => 100_000,
    default: 'max',
  },
  'quota.collections': {
    kind: 'range',
    meaning: 'Collections of an app.',
    min: 0,
    max: () => 200,
    default: 'max',
  },
  'quota.apps': {
    kind: 'range',
    meaning: 'Apps of a workspace.',
    min: 0,
    max: () => 100,
    default: 'max',
  },
  'quota.streams': {
    kind: 'range',
    meaning: 'Event streams of a workspace, and subscriptions of its WebSockets, in each API process.',
    min: 0,
    // Of 33 KiB each.
    max: () => 5_000,
    default: 'max',
  },
  'quota.log_mb': {
    kind: 'range',
    meaning:
      'MB of the log of hooks that is kept, in memory, for all apps of a workspace. Beyond it, the oldest lines go.',
    min: 0,
    // As much as the longest logs of sixteen apps.
    max: () => 4,
    default: 'max',
  },
  'quota.users': {
    kind: 'range',
    meaning: 'End-users of a workspace.',
    min: 0,
    max: () => unlimitedQuota,
    default: 'max',
  },
  'quota.mails_per_hour': {
    kind: 'range',
    meaning: 'Mails with codes and tokens that the users of a workspace may ask for in an hour.',
    min: 0,
    max: () => 1_000,
    default: 'max',
  },
  'quota.mails_per_client_hour': {
    kind: 'range',
    meaning: 'The same from one client address.',
    min: 0,
    max: () => 100,
    default: 'max',
  },
  'quota.requests_per_sec': {
    kind: 'range',
    meaning: 'Requests to an app in a second, from all callers. Administration requests do not count.',
    min: 0,
    max: () => unlimitedQuota,
    default: 'max',
  },
} as const satisfies Record<string, RangeDefinition>;
