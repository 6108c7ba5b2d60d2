// The built-in policies: their kind, the server's own bound, and their default.
import { availableParallelism } from 'node:os';
import { defaultDatabaseLimits } from '../../storage/provision/database-limits.ts';
import type { AnyDefinition } from './definition-kinds.ts';
import { quotaDefinitions } from './quota-definitions.ts';

const host = '(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\\[[0-9a-f:.]+\\])';
/** 1 to 65535. */
const port = '(?:[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d\\d|655[0-2]\\d|6553[0-5])';

/** Ten years in seconds. An instant so far away still has four digits in its year. */
const decadeSeconds = 315_360_000;

/** The built-in policies. The system level has these bounds until the master sets others. */
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
    // Revocations are kept this long.
    usable: [1, 86_400],
  },
  'tokens.refresh_ttl_sec': {
    kind: 'range',
    meaning: 'Lifetime of a refresh token in seconds.',
    min: 1,
    max: () => 31_536_000,
    default: () => 2_592_000,
    usable: [1, decadeSeconds],
  },
  'tokens.refresh_reuse_sec': {
    kind: 'range',
    meaning:
      'Seconds after its use in which a refresh token from the cookie gives the same successor again; 0: never.',
    min: 0,
    max: () => 60,
    default: () => 10,
    usable: [0, 60],
  },
  'otp.ttl_sec': {
    kind: 'range',
    meaning: 'Lifetime of a mailed code in seconds.',
    min: 1,
    max: () => 3_600,
    default: ({ auth }) => auth.otp_ttl_sec,
    usable: [1, decadeSeconds],
  },
  'otp.digits': {
    kind: 'range',
    meaning: 'Digits of a mailed code.',
    min: 6,
    max: () => 10,
    default: () => 8,
    usable: [6, 10],
  },
  'invite.ttl_sec': {
    kind: 'range',
    meaning: 'Lifetime of a mailed invitation in seconds.',
    min: 60,
    max: () => 2_592_000,
    default: () => 604_800,
    usable: [1, decadeSeconds],
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
  'hooks.concurrency': {
    kind: 'range',
    meaning: 'Handlers of an app that run at once in each API process. Four times as many may wait.',
    min: 1,
    max: () => 32,
    default: 'max',
    // A workspace has no more slots.
    usable: [1, 128],
  },
  'hooks.cron_min_sec': {
    kind: 'range',
    meaning: 'Least time between two runs of a job of hooks, in seconds.',
    min: 60,
    max: () => 86_400,
    default: 'min',
    usable: [1, 86_400],
  },
  'hooks.memory_mb': {
    kind: 'range',
    meaning: 'Memory of an app’s hook process in MB.',
    min: 128,
    max: ({ hooks }) => hooks.memory_mb,
    default: 'max',
  },
  'hooks.cpu': {
    kind: 'range',
    meaning: 'CPU time of all hooks of a workspace while others are active, too, in per cent of a core.',
    min: 1,
    // A quarter of the machine.
    max: () => 25 * availableParallelism(),
    default: 'max',
  },
  'hooks.cpu_burst_sec': {
    kind: 'range',
    meaning: 'CPU time that the hooks of a workspace may save up, in seconds.',
    min: 0,
    max: () => 10,
    default: 'max',
  },
  'hooks.workspace_memory_mb': {
    kind: 'range',
    meaning: 'Memory of all hook processes of a workspace together, in MB. Beyond it, the largest is ended.',
    min: 64,
    max: () => 1_024,
    default: 'max',
  },
  'database.work_mem_mb': {
    kind: 'range',
    meaning: 'Memory of a sort or a hash of a statement (`work_mem`), in MB.',
    min: 1,
    max: () => defaultDatabaseLimits.work_mem_mb,
    default: 'max',
    usable: [1, 1_024],
  },
  'database.temp_file_mb': {
    kind: 'range',
    meaning: 'Temporary files of a connection (`temp_file_limit`), in MB.',
    min: 1,
    max: () => defaultDatabaseLimits.temp_file_mb,
    default: 'max',
    usable: [1, 1_048_576],
  },
  'database.statement_timeout_ms': {
    kind: 'range',
    meaning: 'Longest statement of a workspace (`statement_timeout`), in milliseconds.',
    min: 100,
    max: () => defaultDatabaseLimits.statement_timeout_ms,
    default: 'max',
    // A connection that is silent for longer counts as lost.
    usable: [100, 5_000],
  },
  'import.max_sec': {
    kind: 'range',
    meaning: 'Longest import of records, in seconds.',
    min: 1,
    max: () => 900,
    default: 'max',
    usable: [1, 86_400],
  },
  'hooks.egress': {
    kind: 'enum_set',
    meaning: 'Hosts that hooks may send requests to.',
    allowed: [],
    isBoundOnly: true,
    word: {
      pattern: new RegExp(`^${host}(?::${port})?$`),
      hint: 'must be `host` or `host:port`, in lower case, with a port from 1 to 65535',
    },
  },
  'cors.origins': {
    kind: 'enum_set',
    meaning:
      'Origins that a workspace admin may let use cookies: `https://app.example.com`, or `https://*.example.com`.',
    allowed: [],
    word: {
      pattern: /^[a-z][a-z0-9+.-]*:\/\/(?:\*\.)?[a-z0-9[][a-z0-9.:\]_-]*$/,
      hint: 'must be an origin in lower case, whose host may begin with `*.`',
    },
  },
  'auth.methods': {
    kind: 'enum_set',
    meaning: 'Ways in which end-users may sign in.',
    allowed: ['password', 'otp', 'oauth'],
  },
  'auth.self_delete': {
    kind: 'toggle',
    meaning: 'End-users may delete their own account.',
    default: false,
  },
  'hooks.manage_users': {
    kind: 'toggle',
    meaning: 'Hooks may change and delete end-users of the workspace.',
    default: false,
  },
  'files.read': {
    kind: 'enum_set',
    meaning:
      'Who may read a file, besides its uploader and admins. `records`: who may get a record that holds it. `signed_in`: who is signed in to the app.',
    allowed: ['records', 'signed_in'],
    default: ['records'],
  },
  ...quotaDefinitions,
} as const satisfies Record<string, AnyDefinition>;

type Definitions = typeof policyDefinitions;
type NameOf<Kind> = {
  [Name in keyof Definitions]: Definitions[Name]['kind'] extends Kind ? Name : never;
}[keyof Definitions];

/** Names of the policies that bound a number. */
export type RangePolicy = NameOf<'range'>;
/** Names of the policies that are switches. */
export type TogglePolicy = NameOf<'toggle'>;
/** Names of the policies that list words. */
export type EnumPolicy = NameOf<'enum_set'>;

/** The longest life of an access token. */
export const maxTokenLifeMs = policyDefinitions['tokens.access_ttl_sec'].max() * 1_000;
