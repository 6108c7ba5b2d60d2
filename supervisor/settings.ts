// All settings of the server, one row each.
import { parseDatabaseUrl } from './database-url.ts';
import { decodeMasterKey } from './master-key.ts';
import type { Config } from './protocol.ts';
import {
  booleanKind,
  choiceKind,
  eitherKind,
  integerKind,
  listKind,
  numberKind,
  type SettingKind,
  textKind,
} from './setting-kinds.ts';

/** One setting. */
export interface Setting<Value> {
  kind: SettingKind<Value>;
  default: Value;
  /** One sentence for the reference. */
  doc: string;
  /** Never printed, not even when it is wrong. */
  secret: boolean;
}

/** A setting for every member of the configuration, at any depth. */
export type SettingsOf<Part> = {
  [Key in keyof Part]: Part[Key] extends boolean | number | string | readonly string[] ? Setting<Part[Key]>
    : SettingsOf<Part[Key]>;
};

const hostName = textKind('a host name or address', (value) => /^[A-Za-z0-9.:_-]{1,255}$/.test(value));
const token = textKind('1 to 32 letters, digits, _ or -', (value) => /^[A-Za-z0-9_-]{1,32}$/.test(value));
const notEmpty = textKind('text that is not empty', (value) => value.trim() !== '');
const origin = textKind(
  'an exact origin like https://example.com or capacitor://localhost (patterns with * are not possible)',
  (value) => /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*\\]+$/i.test(value) && (URL.parse(value)?.host ?? '') !== '',
);
const hostPattern = textKind(
  'a host or host:port',
  // `auto` was a choice of an earlier release, and would now be taken for a host of that name.
  (value) => value !== 'auto' && /^([A-Za-z0-9._-]{1,253}|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.test(value),
);
const domain = textKind(
  'a domain like apps.example.com in ASCII, or empty',
  (value) =>
    value === '' || /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/i.test(value),
);
const httpUrl = textKind(
  'an http or https URL, or empty',
  (value) => value === '' || /^https?:$/.test(URL.parse(value)?.protocol ?? ''),
);
const smtpUrl = textKind(
  'an smtp or smtps URL, or empty',
  (value) => value === '' || /^smtps?:\/\//.test(value) && (URL.parse(value)?.hostname ?? '') !== '',
);
const sender = textKind(
  'an address, as in Example <no-reply@example.com>',
  (value) => /^[^<>]*(?:[^\s<>@]@[^\s<>@]+|<[^\s<>@]+@[^\s<>@]+>)\s*$/.test(value),
);
const masterKey = textKind(
  '32 bytes as base64 or hexadecimal digits',
  (value) => value === '' || decodeMasterKey(value) !== undefined,
);
const databaseUrl = textKind(
  'a URL like postgres://user:password@host:5432/database?sslmode=require',
  (value) => value === '' || parseDatabaseUrl(value).host !== '',
);

function row<Value>(kind: SettingKind<Value>, value: Value, doc: string): Setting<Value> {
  return { kind, default: value, doc, secret: false };
}

function secret(kind: SettingKind<string>, doc: string): Setting<string> {
  return { kind, default: '', doc, secret: true };
}

/** The settings. Their keys are those of the configuration file. */
export const settings: SettingsOf<Config> = {
  data_dir: row(notEmpty, './data', 'Directory of all that is stored, with a `.gitignore`, no links out.'),
  http: {
    host: row(hostName, '127.0.0.1', 'Address to listen on.'),
    port: row(integerKind(0, 65_535), 8080, 'Port to listen on. 0 takes any free one and prints it.'),
    cookie_secure: row(booleanKind, true, 'True: browsers send session cookies over HTTPS only.'),
    cookie_prefix: row(token, 'svc', 'Prefix of the names of the session cookies.'),
    security_headers: row(
      booleanKind,
      true,
      'True: every response has the security headers. Files and custom routes have a sandbox policy in any case.',
    ),
    max_body_bytes: row(
      integerKind(1024, 1_073_741_824),
      8_388_608,
      'Largest request body in bytes. File uploads have a limit of their own.',
    ),
    trust_proxy: row(
      booleanKind,
      false,
      'True: the client address is the last one in `X-Forwarded-For`. For a server behind one proxy.',
    ),
    hosts: row(
      listKind(hostPattern),
      [],
      'Names that `Host` may have, each with any port unless it says one. Empty: any name. `/healthz` and `/readyz` accept every name.',
    ),
    app_domain: row(
      domain,
      '',
      'Domain below which every app has an origin of its own, `<app>--<workspace>.<domain>`. Empty: only below `localhost`.',
    ),
    keep_alive_ms: row(
      integerKind(1_000, 3_600_000),
      75_000,
      'Time that a client may keep an idle connection, in milliseconds; it is closed 15 s later. Longer than the idle timeout of a proxy or balancer in front.',
    ),
  },
  rate_limit: {
    enabled: row(booleanKind, true, 'True: the requests of each client address are limited.'),
    per_second: row(
      numberKind(0.001, 1_000_000),
      50,
      'Requests a second that one address may send continuously.',
    ),
    burst: row(integerKind(1, 10_000_000), 100, 'Requests that one address may send at once.'),
  },
  realtime: {
    streams_per_principal: row(
      integerKind(1, 1_000_000),
      1_000,
      'Event streams, WebSockets and subscriptions that one principal may have open in each API process. Every 128 characters of a filter and a query count as one more.',
    ),
    streams_per_address: row(
      integerKind(1, 1_000_000),
      5_000,
      'The same for one client address, for all its principals together.',
    ),
  },
  cors: {
    allowed_origins: row(
      listKind(origin),
      [],
      'Origins whose pages may call the API with bearer tokens. Those that may use cookies belong to workspaces.',
    ),
  },
  database: {
    url: secret(databaseUrl, 'The PostgreSQL server to use. Empty: an embedded one in `data_dir`.'),
    workspace_pool_cap: row(integerKind(1, 1000), 4, 'Connections for the users of one workspace, at most.'),
    app_pool_cap: row(integerKind(1, 1000), 4, 'Connections for the records of one app, at most.'),
  },
  storage: {
    backend: row(choiceKind('local', 's3'), 'local', 'Where files are stored. local: in `<data_dir>/blobs`.'),
    reserve_mb: row(
      integerKind(0, 1_000_000_000),
      1_024,
      'MB of 1,048,576 bytes that tenants leave free on the disks below `data_dir`. While less is free, what they write gets 503.',
    ),
    s3: {
      bucket: row(textKind(), '', 'Bucket of the s3 backend.'),
      region: row(textKind(), '', 'Region of the bucket.'),
      endpoint: row(httpUrl, '', 'URL of the S3 service. Empty: that of Amazon.'),
      access_key_id: row(textKind(), '', 'Access key of the s3 backend.'),
      secret_access_key: secret(textKind(), 'Secret of the access key.'),
      virtual_hosted_style_request: row(booleanKind, false, 'True: the bucket is part of the host name.'),
    },
  },
  mail: {
    transport: row(
      choiceKind('outbox', 'smtp'),
      'outbox',
      'How mail is sent. outbox: as files in `<data_dir>/outbox`.',
    ),
    from: row(sender, 'Bulkhead <bulkhead@localhost>', 'Sender of the mails.'),
    smtp: { url: secret(smtpUrl, 'URL of the mail server, like smtps://user:password@host:465.') },
  },
  hooks: {
    dir: row(
      textKind(),
      '',
      'Directory of the hook files, `<workspace>/<app>/<file>`. Empty: `<data_dir>/hooks`.',
    ),
    timeout_ms: row(integerKind(1, 30_000), 5000, 'Longest time of one hook call, in milliseconds.'),
    memory_mb: row(integerKind(128, 65_536), 256, 'Memory of one hook process in MiB, at most.'),
    idle_ms: row(
      integerKind(1000, 86_400_000),
      300_000,
      'A hook process without a call for this long is stopped, in milliseconds.',
    ),
    max_runners: row(
      integerKind(1, 10_000),
      200,
      'Hook processes at once, at most. A workspace has half of them; each API process gets an equal share.',
    ),
    total_memory_mb: row(
      integerKind(0, 67_108_864),
      0,
      'Memory of all hook processes together in MiB, at most. 0: half of what the machine or its control group has.',
    ),
    sandbox: row(
      choiceKind('auto', 'deno', 'os'),
      'auto',
      'The sandbox around hooks. auto: the strongest that works on this machine.',
    ),
    jit: row(
      booleanKind,
      false,
      'True: hooks are compiled to machine code. That is faster, but gives attackers more to work with.',
    ),
    type_check: row(
      booleanKind,
      true,
      "A `PUT` of a hook file checks the types of the app's files, which takes about a second of one core.",
    ),
  },
  egress: {
    private_hosts: row(
      eitherKind(choiceKind('deny', 'loopback', 'allow'), listKind(hostPattern)),
      'deny',
      "Private addresses that OAuth and hook requests may reach. loopback: those of this machine, for development. The server's own ports are never reached.",
    ),
  },
  auth: {
    issuer: row(notEmpty, 'bulkhead', 'The `iss` claim of access tokens.'),
    legacy_hs256_secret: secret(
      textKind(),
      'Secret of an earlier release, to accept its HS256 tokens for some time.',
    ),
    otp_ttl_sec: row(integerKind(1, 3600), 600, 'Lifetime of a mailed code, in seconds.'),
  },
  audit: {
    retention_days: row(integerKind(0, 36_500), 0, 'Days that audit entries are kept. 0: for ever.'),
  },
  secrets: {
    master_key: secret(
      masterKey,
      'The key that protects all other secrets. Empty: the one in `<data_dir>/master.key`, which the first start creates.',
    ),
  },
  api: {
    workers: row(
      integerKind(1, 64),
      1,
      'API processes that share the port. An event stream shows only the writes of its own process.',
    ),
  },
  log: {
    level: row(choiceKind('debug', 'info', 'warn', 'error'), 'info', 'The least serious lines to write.'),
    format: row(choiceKind('pretty', 'json'), 'json', 'Format of log lines. Unset: pretty on a terminal.'),
  },
};
