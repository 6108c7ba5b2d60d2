// The ports through which the rest of the server uses hooks. Filled in where the API is put together.
import type { ServerResponse } from 'node:http';
import type { AppDefinition, AppIdentity } from '../../storage/definition.ts';
import type { StoredRecord } from '../../storage/app/records/plan.ts';
import type { HookAuth } from '../../hook-runner/calls.ts';
import type { RouteRegistration } from '../../hook-runner/registrations.ts';
import type { UserHooks } from '../auth/login/ports.ts';
import type { HeaderList } from '../http/header-list.ts';
import type { AppHost } from '../http/hosts/hosts.ts';
import type { Principal } from '../scope.ts';
import type { LogEntry } from './logs/log.ts';

/** A thing that is wrong with a hook file. */
export interface FileFault {
  file: string;
  message: string;
  line: number | null;
  column: number | null;
}

/** A hook file, and the version of it that runs. */
export interface RunningFile {
  filename: string;
  /** In bytes. */
  size: number;
  updated_at: Date;
  /** When the version that runs loaded first; null where none runs. */
  running_since: Date | null;
  /** True when the version that runs is the file as it is. */
  is_current: boolean;
}

/** The outcome of a load of an app's files. */
export interface LoadResult {
  /** Names of the files that are in effect as they are. */
  loaded: string[];
  errors: FileFault[];
}

/** The change of a record. */
export type WriteAction = 'create' | 'update' | 'delete';

/** How a write that hook code makes hangs on the run of that code. */
export interface HookNesting {
  /** 1 for a write that a hook of a request's write makes, and one more for each hook in between. */
  depth: number;
  /** Wraps what waits for hooks: see `CallHandler`. */
  withoutSlot: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** When nobody waits any more, in milliseconds of `performance.now()`. */
  deadline: number;
}

/** The caller of a write. */
export interface RecordCaller {
  principal: Principal | null;
  requestId: string;
  /** Absent for what a request itself wants. */
  hook?: HookNesting;
  /** True for what hook code does for the principal: hooks see that one, and not the hook. */
  isForPrincipal?: boolean;
  /** Called when hooks have returned, perhaps long after the beginning. Throws when nothing may be written. */
  requireStillAdmitted?: () => void;
}

/** An author as hooks are told of it. */
export interface Actor extends Partial<Omit<HookNesting, 'depth'>> {
  /** Looked up when hooks ask for it. */
  auth: () => Promise<HookAuth | null>;
  requestId: string;
  /** 0 for a request. */
  depth: number;
}

/** A write that a hook is asked about or told of. */
export interface HookedWrite {
  actor: Actor;
  /** Before a create or an update: as it would be stored. */
  record: StoredRecord;
  /** Of an update: as it was. */
  previous: StoredRecord | null;
  /** True for the create of a profile that makes its user. */
  registers?: boolean;
}

/** The hooks of one collection and action. */
export interface WriteHooks {
  /** True when hooks run before the write; after it. */
  readonly before: boolean;
  readonly after: boolean;
  /**
   * Runs the before-hooks, one after another. Returns the record's fields as they are to be written, or undefined when
   * no hook changed them. Throws `400 hook_veto`, `500 hook_error`, `503 hook_busy` or `hook_unavailable`.
   */
  runBefore(write: HookedWrite): Promise<Readonly<Record<string, unknown>> | undefined>;
  /** Runs the after-hooks; resolves when they have ended, and never throws. */
  runAfter(write: HookedWrite): Promise<void>;
}

/** The record hooks of one app, as they are now. */
export interface AppWriteHooks {
  /** True when there are none at all. */
  readonly isEmpty: boolean;
  /** The hooks that concern a write; undefined when none does. `registers`: it makes a user, or may. */
  on(collection: string, action: WriteAction, registers?: boolean): WriteHooks | undefined;
}

/** Hooks as writes of records see them. */
export interface RecordHooks {
  /**
   * The record hooks of an app. Throws `503 hook_unavailable` or `500 hook_error` when they cannot be known: no write may
   * pass then.
   */
  getWriteHooks(app: AppDefinition): Promise<AppWriteHooks>;
}

/** Hooks as the routes for hook files see them. */
export interface HookLoader {
  /** Loads an app's files again; what was in effect stays so until the new ones are. Never throws for a fault of theirs. */
  reload(app: AppDefinition): Promise<LoadResult>;
  /** Type errors in an app's files, waiting for them for 5 s; the log hears of hooks that nothing calls. */
  check(app: AppDefinition): Promise<FileFault[]>;
  /** Ends what runs for an app that is gone. */
  drop(app: AppIdentity): void;
  /** The same for all apps of a workspace. */
  dropWorkspace(id: string): void;
}

/** How the hooks of an app are, in all API processes together. */
export interface HookState {
  /** The number of API processes that responded in time. */
  processes: number;
  /** True when there is a process. */
  running: boolean;
  /** Of the code that is loaded, counted from the start of this server by each process: the highest. */
  generation: number | null;
  /** Names of the files that are in effect as they are. */
  loaded: string[];
  files: RunningFile[];
  /** Faults of the files as they were loaded last. */
  errors: FileFault[];
  registrations: { hooks: number; routes: number; jobs: number };
  /** `last_run` since the server started; `next_run` is null for a time that never comes again. RFC 3339. */
  jobs: { name: string; expression: string; last_run: string | null; next_run: string | null }[];
  runs: number;
  failed_runs: number;
  /** How the last runner ended that did not end as it should. */
  last_kill: 'protocol_error' | 'timeout' | 'not_reading' | 'cpu' | 'memory' | 'exited' | null;
  in_flight: number;
  cpu_ms: number | null;
  rss_bytes: number | null;
}

/** How a run of a job ended. */
export interface JobOutcome {
  name: string;
  status: 'done' | 'failed';
  /** Without the time that it waited for its turn. */
  duration_ms: number;
  errors: FileFault[];
}

/** Runs jobs beside their schedule, one run of each at a time. */
export interface JobRunner {
  /** Throws `404 not_found` for an unknown job, `409 conflict` while it runs, and what loading the hooks throws. */
  requireIdle(app: AppDefinition, name: string): Promise<void>;
  /** Runs a job, and returns how that ended. Throws the same, and `503` when it cannot begin. */
  run(app: AppDefinition, job: { name: string; requestId: string }): Promise<JobOutcome>;
}

/** A request for a custom route, and where its response goes. */
export interface CustomRequest {
  /** Nothing has been written to it, and nothing of its request been read. */
  response: ServerResponse;
  /** Headers of every response of the server. */
  headers: HeaderList;
  /** Reads the body of its request. To be called once. */
  body: () => Promise<Buffer>;
  principal: Principal | null;
  requestId: string;
  /** The app, for a request at its own origin; undefined for one at that of the server. */
  appHost: AppHost | undefined;
  /** Serves a path, still encoded, that no hook has registered: at the origin of an app, with its static files. */
  serveOther?: (path: string) => Promise<void>;
}

/** The latest log lines of an app's hooks. */
export interface AppLog {
  /** The kept lines, oldest first. */
  read(): Promise<LogEntry[]>;
  /** Throws `429 too_many_requests` where too many follow it. */
  requireFollowerSlot(): void;
  /** Calls back for each line that is kept and each new one, until what is returned is called. */
  follow(tell: (entry: LogEntry) => void): () => void;
}

/** Hooks as a whole. */
export interface Hooks extends RecordHooks, UserHooks, HookLoader {
  readonly jobs: JobRunner;
  /** The log of an app, of all API processes. */
  log(app: AppDefinition): AppLog;
  /**
   * Runs a custom route and begins its response. Throws, before anything is written, `404` when there is no such route, what
   * reading the body throws, `500 hook_error`, `503 hook_busy` or `hook_unavailable`.
   */
  serve(app: AppDefinition, request: CustomRequest): Promise<void>;
  /** The custom routes of an app, in the order of their registration. Throws as `getWriteHooks` does. */
  routes(app: AppDefinition): Promise<readonly RouteRegistration[]>;
  /** The files of an app. Starts nothing. */
  files(app: AppDefinition): Promise<RunningFile[]>;
  /** Starts nothing. */
  state(app: AppDefinition): Promise<HookState>;
  /** Memory that the hook processes of a workspace or an app use, in bytes. */
  memoryOf(place: { workspace: string; app?: string | undefined }): Promise<number>;
}
