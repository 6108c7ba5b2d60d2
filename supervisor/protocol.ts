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
  realtime: { streams_per_principal: number; streams_per_address: number };
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
  audit: { retention_days: number };
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

/** How strongly hook code is walled in: see docs/explanation/walls.md. */
export type SandboxLevel = 'deno' | 'os';

/** The wall in effect. With level `none` no hook runs on this server, and `why` says what is missing. */
export interface Sandbox {
  level: SandboxLevel | 'none';
  /** One line for the operator. */
  why: string;
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
  /** Whether it takes the place of one that served and died; the others go on meanwhile. */
  successor: boolean;
  sandbox: Sandbox;
}

/**
 * What an API process asks of the hook runners. `id` is a UUID of its choice, for one process of one app, never used
 * again. The runners of an API process end with it.
 */
export type RunnerRequest =
  /** Answered by `runner_started` or `runner_refused`. `memory_mb` bounds the whole process, in MiB. */
  | { type: 'runner_start'; id: string; workspace: string; app: string; memory_mb: number }
  /**
   * `kill`: at once; `fault` then counts it as a crash of the app. Otherwise the caller closes the socket next, which
   * ends the runner, and what is left after a second is killed. `runner_exited` follows either way.
   */
  | { type: 'runner_stop'; id: string; kill: boolean; fault?: true }
  /** The app's code is another now: its crashes are forgotten. A change on disk does the same. */
  | { type: 'runner_clear_crashes'; workspace: string; app: string }
  /** Answered by `runner_measured`, while the runner lives. */
  | { type: 'runner_measure'; id: string }
  /** Checks the types of an app's files. Answered by `runner_checked`; no process of `id` comes of it. */
  | {
    type: 'runner_check';
    id: string;
    workspace: string;
    app: string;
    files: readonly { file: string; source: string }[];
    /** The declarations they are written against. */
    types: string;
  };

/** Why there is no runner: too many crashes, too many runners, no wall (`Sandbox`), or the system refused. */
export type RunnerRefusal = 'breaker_open' | 'full' | 'no_sandbox' | 'cannot_start';

/** Why types were not checked: it took too long, a newer check of the app took its place, or it failed, as the log says. */
export type Unchecked = 'late' | 'superseded' | 'failed';

/** What `deno check` wrote, at most 256 KiB; or why there is none of it to rely on. */
export type CheckResult = { output: string } | { unchecked: Unchecked };

/** What an API process hears of its own runners, and of the hook files of all apps. */
export type RunnerReport =
  /**
   * Comes with the API's end of the runner's channel as the handle of the message (a `Socket`, not yet read); undefined
   * when the runner died meanwhile. `pid` leads the process group.
   */
  | { type: 'runner_started'; id: string; pid: number }
  /** `retry_ms`: no sooner is another try of use. `message` is one line for the operator. */
  | { type: 'runner_refused'; id: string; reason: RunnerRefusal; retry_ms: number; message: string }
  | { type: 'runner_exited'; id: string }
  /** At most 64 KiB a second of an app; control characters but line ends escaped. */
  | { type: 'runner_output'; id: string; text: string }
  | { type: 'runner_checked'; id: string } & CheckResult
  | { type: 'runner_measured'; id: string; cpu_ms: number; rss_bytes: number }
  /** Files of the app changed in `hooks.dir`, by whoever; neither id need be that of anything. */
  | { type: 'hooks_changed'; workspace: string; app: string };

/** What an API process asks of the others, and answers to them; `id` is a UUID of the one that asks. */
export type PeerRequest =
  /** Answered by `peers_answered`. */
  | { type: 'peers_ask'; id: string; question: string }
  /** To the `peer_asked` of this id. */
  | { type: 'peers_answer'; id: string; answer: string };

/** What an API process hears of the others. */
export type PeerReport =
  | { type: 'peer_asked'; id: string; question: string }
  /** Of those that answered within a second. */
  | { type: 'peers_answered'; id: string; answers: readonly string[] };

/** Supervisor to API. A `ping` is answered by `pong` at once: without that the process is killed as one that hangs. */
export type ToApi = ApiStart | { type: 'stop' } | { type: 'ping' } | RunnerReport | PeerReport;

/** API to supervisor. `failed` is a start that cannot succeed by trying again (its message is for the operator). */
export type FromApi =
  | { type: 'progress'; message: string }
  | { type: 'ready'; url: string; initialized: boolean }
  | { type: 'failed'; message: string }
  | { type: 'pong' }
  | RunnerRequest
  | PeerRequest;

/** What every program gets that a command runs beside the server. */
export interface ProgramStart {
  database: DatabaseAccess;
  /** 32 bytes, base64. */
  masterKey: string;
}

/** What such a program says: its results, then `done`; or `failed` with a line for the operator. */
export type FromProgram<Result> =
  | { type: 'result'; result: Result }
  | { type: 'done' }
  | { type: 'failed'; message: string };

/** The new password of the master admin. */
export interface MasterPassword {
  username: string;
  password: string;
}

/** What the program that verifies audit logs is asked. */
export interface VerifyStart extends ProgramStart {
  /** The system's log, one workspace's, or all there are. */
  log: 'all' | 'system' | { workspace: string };
  /** A last seal that was kept. */
  head: { seq: number; hash: string } | null;
}

/** What was found in one log. `seq` and `id` say which seal and row it is about, as far as that is known. */
export interface VerifiedLog {
  /** `system`, or `workspace <id>`. */
  log: string;
  sound: number;
  waiting: number;
  removed: number;
  /** The last seal, as `<seq>:<hash>`. */
  head: string;
  /** The first hundred. */
  faults: { seq: number | null; id: string | null; what: string }[];
  faulty: number;
}
