// What the supervisor and the API process say to each other, as types only.

/** The effective configuration. Keys are spelled as an operator writes them (docs/reference/configuration.md). */
export interface Config {
  data_dir: string;
  http: {
    host: string;
    port: number;
    cookie_secure: boolean;
    cookie_prefix: string;
    security_headers: boolean;
    max_body_bytes: number;
    trust_proxy: boolean;
  };
  rate_limit: { enabled: boolean; per_second: number; burst: number };
  cors: { allowed_origins: readonly string[] };
  database: { url: string; workspace_pool_cap: number; app_pool_cap: number };
  storage: {
    backend: 'local' | 's3';
    s3: {
      bucket: string;
      region: string;
      endpoint: string;
      access_key_id: string;
      secret_access_key: string;
      virtual_hosted_style_request: boolean;
    };
  };
  mail: { transport: 'outbox' | 'smtp'; from: string; smtp: { url: string } };
  hooks: {
    dir: string;
    timeout_ms: number;
    memory_mb: number;
    idle_ms: number;
    max_runners: number;
    sandbox: 'auto' | 'deno' | 'os';
    jit: boolean;
  };
  egress: { private_hosts: 'auto' | 'deny' | 'allow' | readonly string[] };
  auth: { issuer: string; legacy_hs256_secret: string; otp_ttl_sec: number };
  secrets: { master_key: string };
  api: { workers: number };
  log: { level: 'debug' | 'info' | 'warn' | 'error'; format: 'pretty' | 'json' };
}

/** How the API reaches PostgreSQL as the provisioner role (CREATEDB, CREATEROLE, never superuser). */
export interface DatabaseAccess {
  /** Directory of the Unix socket, or a host name. */
  host: string;
  port: number;
  username: string;
  password: string;
  /** Name of the control database. */
  database: string;
  /** TLS for a remote server, as `sslmode` of the URL says. */
  ssl: 'disable' | 'prefer' | 'require' | 'verify-full';
}

/** First message to an API process: everything it must know; it never reads the environment. */
export interface ApiStart {
  type: 'start';
  config: Config;
  database: DatabaseAccess;
  /** 32 bytes, base64. Role passwords and encryption keys are derived from it. */
  masterKey: string;
  /** Which of `api.workers` this is, from 0. Worker 0 migrates and reaps. */
  worker: number;
}

/** Supervisor to API. */
export type ToApi = ApiStart | { type: 'stop' };

/** API to supervisor. `failed` is a start that cannot succeed by trying again (its message is for the operator). */
export type FromApi =
  | { type: 'progress'; message: string }
  | { type: 'ready'; url: string; initialized: boolean }
  | { type: 'initialized' }
  | { type: 'failed'; message: string };
