// The messages between the supervisor and the programs of the API. Types only.

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
    hosts: readonly string[];
    app_domain: string;
    keep_alive_ms: number;
  };
  rate_limit: { enabled: boolean; per_second: number; burst: number };
  realtime: { streams_per_principal: number; streams_per_address: number };
  cors: { allowed_origins: readonly string[] };
  database: { url: string; workspace_pool_cap: number; app_pool_cap: number };
  storage: {
    backend: 'local' | 's3';
    reserve_mb: number;
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
    total_memory_mb: number;
    sandbox: 'auto' | 'deno' | 'os';
    jit: boolean;
    type_check: boolean;
  };
  egress: { private_hosts: 'deny' | 'loopback' | 'allow' | readonly string[] };
  auth: { issuer: string; legacy_hs256_secret: string; otp_ttl_sec: number };
  audit: { retention_days: number };
  secrets: { master_key: string };
  api: { workers: number };
  log: { level: 'debug' | 'info' | 'warn' | 'error'; format: 'pretty' | 'json' };
}

/** The connection parameters of PostgreSQL for the provisioner role (CREATEDB, CREATEROLE, never superuser). */
export interface DatabaseAccess {
  /** Directory of the Unix socket, or a host name. */
  host: string;
  port: number;
  username: string;
  password: string;
  /** Name of the control database. */
  database: string;
  /** The TLS mode, `sslmode` of the URL. */
  ssl: 'disable' | 'prefer' | 'require' | 'verify-full';
}

/** The level of the sandbox around hook code: see docs/explanation/walls.md. */
export type SandboxLevel = 'deno' | 'os';

/** The sandbox in effect. At level `none`, no hook runs on this server. */
export interface Sandbox {
  level: SandboxLevel | 'none';
  /** The reason for the level, one line for the operator. */
  why: string;
  /** What keeps the hooks of a workspace within its share of processor and memory. */
  shares: 'kernel' | 'supervisor' | 'none';
}

/** The first message to an API process, which never reads the environment. */
export interface ApiStart {
  type: 'start';
  config: Config;
  database: DatabaseAccess;
  /** 32 bytes as base64. Role passwords and encryption keys are derived from it. */
  masterKey: string;
  /** The index of this process among `api.workers`, from 0. Worker 0 migrates and reaps. */
  worker: number;
  /** True when it replaces a process that has served and died, while the others continue. */
  successor: boolean;
  sandbox: Sandbox;
}

/**
 * A request of an API process about hook runners. `id` is a UUID that the API process chooses for one runner of one app,
 * and never reuses. The runners of an API process end with it.
 */
export type RunnerRequest =
  /** Starts a runner. The response is `runner_started` or `runner_refused`. `memory_mb` limits the process, in MiB. */
  | {
    type: 'runner_start';
    id: string;
    workspace: string;
    app: string;
    memory_mb: number;
    share: RunnerShare;
  }
  /** The share of a workspace has changed, or is said to be the same again. */
  | { type: 'runner_share'; workspace: string; share: RunnerShare }
  /** Requests for a workspace have arrived within the last seconds. */
  | { type: 'runner_workspace_active'; workspace: string }
  /**
   * Stops a runner. With `kill`, it is killed at once, and `fault` counts that as a crash of the app. Otherwise the API
   * closes the socket next, which ends the runner, and the supervisor kills it after a second. `runner_exited` follows.
   */
  | { type: 'runner_stop'; id: string; kill: boolean; fault?: true }
  /** A runner has started, and is about to load hooks. */
  | { type: 'runner_ready'; id: string }
  /** Clears the crashes of an app whose code has changed. A change on disk does the same. */
  | { type: 'runner_clear_crashes'; workspace: string; app: string }
  /** Measures a runner. The response is `runner_measured`, or none when the runner has exited. */
  | { type: 'runner_measure'; id: string }
  /** Adds up the runners of a workspace or an app, of all API processes. The response is `runner_summed`. */
  | { type: 'runner_sum'; id: string; workspace: string; app?: string }
  /** Checks the types of an app's files. The response is `runner_checked`. It starts no runner. */
  | {
    type: 'runner_check';
    id: string;
    workspace: string;
    app: string;
    files: readonly { file: string; source: string }[];
    /** The declarations that the files are checked against. */
    types: string;
  };

/** What all runners of a workspace together may take. Bounds are of policy, see docs/how-to/policies.md. */
export interface RunnerShare {
  /** Cores, while other workspaces need the processor, too. */
  cpu_cores: number;
  /** CPU time in milliseconds that may be saved up. */
  cpu_burst_ms: number;
  /** MiB. */
  memory_mb: number;
}

/** The reason for a refused start: too many crashes, too many runners, no sandbox, or an error of the system. */
export type RunnerRefusal = 'breaker_open' | 'full' | 'no_sandbox' | 'cannot_start';

/** The reason for a missing check: it took too long, a newer check of the app replaced it, or it failed and was logged. */
export type Unchecked = 'late' | 'superseded' | 'failed';

/** The output of `deno check`, cut to 256 KiB; or the reason for a missing check. */
export type CheckResult = { output: string } | { unchecked: Unchecked };

/** A report to an API process about its own runners, or about the hook files of any app. */
export type RunnerReport =
  /**
   * The handle of the message is the API's end of the runner's channel, a `Socket` that was not read yet; undefined when
   * the runner has died meanwhile. `pid` is the leader of the process group.
   */
  | { type: 'runner_started'; id: string; pid: number }
  /** A retry is useful after `retry_ms` at the earliest. `message` is one line for the operator. */
  | { type: 'runner_refused'; id: string; reason: RunnerRefusal; retry_ms: number; message: string }
  | { type: 'runner_exited'; id: string }
  /** Standard output and error, at most 64 KiB a second for an app. Control characters are escaped, except line ends. */
  | { type: 'runner_output'; id: string; text: string }
  | { type: 'runner_checked'; id: string } & CheckResult
  /** Also sent unasked, every few seconds for a runner that has worked, and last when it has exited. */
  | { type: 'runner_measured'; id: string; cpu_ms: number; rss_bytes: number }
  /** `memory_bytes` is memory that no file backs. */
  | { type: 'runner_summed'; id: string; memory_bytes: number }
  /** The runner is stopped or held back, as its workspace has spent its CPU time, or goes on. Its time limits stand still meanwhile. */
  | { type: 'runner_paused'; id: string; paused: boolean }
  /**
   * The runner took most of a share of its workspace that is spent. Of memory, it is being killed; of CPU time, it is to be
   * ended if no call is under way.
   */
  | { type: 'runner_spent'; id: string; share: 'cpu' | 'memory' }
  /** Files of the app have changed in `hooks.dir`. The ids are folder names, and may not exist. */
  | { type: 'hooks_changed'; workspace: string; app: string };

/** A question of an API process to the others, or a response to one. `id` is a UUID that the asking process chooses. */
export type PeerRequest =
  /** A question. The response is `peers_responded`. */
  | { type: 'peers_ask'; id: string; question: string }
  /** The response to the `peer_asked` with this id. */
  | { type: 'peers_response'; id: string; response: string };

/** A question of another API process, or the responses of the others. */
export type PeerReport =
  | { type: 'peer_asked'; id: string; question: string }
  /** The responses of the processes that responded within a second. */
  | { type: 'peers_responded'; id: string; responses: readonly string[] };

/** A message from the supervisor to the API. The response to `ping` is `pong`; a process without it is killed as hung. */
export type ToApi = ApiStart | { type: 'stop' } | { type: 'ping' } | RunnerReport | PeerReport;

/** A message from the API to the supervisor. `failed` is a start that would fail again; its message is for the operator. */
export type FromApi =
  | { type: 'progress'; message: string }
  | { type: 'ready'; url: string; initialized: boolean }
  | { type: 'failed'; message: string }
  | { type: 'pong' }
  | RunnerRequest
  | PeerRequest;

/** The first message to a one-shot program, which a command runs beside the server. */
export interface ProgramStart {
  database: DatabaseAccess;
  /** 32 bytes as base64. */
  masterKey: string;
}

/** A message of a one-shot program: its results, then `done`; or `failed` with a line for the operator. */
export type FromProgram<Result> =
  | { type: 'result'; result: Result }
  | { type: 'done' }
  | { type: 'failed'; message: string };

/** The new password of the master admin. */
export interface MasterPassword {
  username: string;
  password: string;
}

/** The first message to the program that verifies audit logs. */
export interface VerifyStart extends ProgramStart {
  /** The system's log, one workspace's, or all. */
  log: 'all' | 'system' | { workspace: string };
  /** The last seal of an earlier verification. */
  head: { seq: number; hash: string } | null;
}

/** The result for one log. */
export interface VerifiedLog {
  /** `system`, or `workspace <id>`. */
  log: string;
  sound: number;
  waiting: number;
  removed: number;
  /** The last seal, as `<seq>:<hash>`. */
  head: string;
  /** The first hundred faults, with seal and row where they are known. */
  faults: { seq: number | null; id: string | null; what: string }[];
  faulty: number;
}
