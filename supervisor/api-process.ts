// The API processes: starts them with their configuration, keeps them alive, and stops them without interrupting a request.
import { fileURLToPath } from 'node:url';
import { Child, type ChildEvent } from './child.ts';
import type { ApiUser } from './api-user.ts';
import { compileCacheEnvironment } from './compile-cache.ts';
import { trustEnvironment } from './config.ts';
import { isApiMessage, isPeerRequest, isRunnerRequest } from './from-api.ts';
import { type PeerClient, PeerRelay } from './peers.ts';
import { asCaller } from './postgres/user.ts';
import type { Config, DatabaseAccess, FromApi, RunnerReport, Sandbox, ToApi } from './protocol.ts';
import { apiHeartbeat, Heartbeat, type HeartbeatRules } from './heartbeat.ts';
import { coreRestartRules } from './restarts.ts';
import type { RunnerClient, RunnerProcesses } from './hooks/runners.ts';
import type { Command, RunningProcess } from './spawn.ts';
import { StartRefused } from './start-refused.ts';

/** Options of the API processes. */
export interface ApiProcessOptions {
  config: Config;
  masterKey: Buffer;
  /** Resolves once PostgreSQL is ready. The processes load meanwhile. */
  database: Promise<DatabaseAccess>;
  /** Resolves once the level of the sandbox is known. */
  sandbox: Promise<Sandbox>;
  runners: Pick<RunnerProcesses, 'connect'>;
  path: string;
  /** The user to run as, if it is another than this process's. */
  user?: ApiUser | undefined;
  /** The descriptor of standard output. */
  stdout?: number;
  onEvent: (event: ChildEvent) => void;
  onProgress: (message: string) => void;
  /** The program to run instead of the API, for tests of the supervisor alone. */
  program?: string;
  /** Other rules of the heartbeat, for the same tests. */
  heartbeat?: HeartbeatRules;
}

/** All API processes together. */
export interface ApiProcesses {
  /** Starts all processes and resolves when they are ready. Throws `StartRefused`. */
  start: () => Promise<ApiReady>;
  /** Stops all processes; requests in flight finish. */
  stop: () => Promise<void>;
  kill: () => void;
  /** Sends a report to every process that serves. */
  broadcast: (report: RunnerReport) => void;
}

/** The `ready` message of the first process. */
export interface ApiReady {
  url: string;
  initialized: boolean;
}

/** Includes the migrations of a large fleet, which run before the first process is ready. */
const readyTimeoutMs = 1_800_000;
/** The API gives requests in flight 10 s, then closes the remaining connections. */
const stopTimeoutMs = 12_000;

// In dist/ the program ends in .js: the compiler rewrites imports, not strings.
const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
const apiProgram = fileURLToPath(new URL(`../api/main${extension}`, import.meta.url));
const preload = `--import=${new URL(`../api/process/v8-flags${extension}`, import.meta.url).href}`;

/** The API's own user is no entry of the system's database, where libraries would look for a home. */
const homeless = { HOME: '/nonexistent' };

/** Creates the API processes. None runs before `start`. */
export function createApiProcesses(options: ApiProcessOptions): ApiProcesses {
  const peers = new PeerRelay();
  const first = new Worker(options, peers, 0);
  const others: Worker[] = [];
  return {
    start: async () => {
      const ready = await first.start(options.config.http.port);
      const port = Number(new URL(ready.url).port);
      for (let index = 1; index < options.config.api.workers; index++) {
        others.push(new Worker(options, peers, index));
      }
      await Promise.all(others.map((worker) => worker.start(port)));
      return ready;
    },
    stop: async () => {
      await Promise.all([first, ...others].map((worker) => worker.child.stop()));
    },
    kill: () => [first, ...others].forEach((worker) => worker.child.kill()),
    broadcast: (report) => [first, ...others].forEach((worker) => worker.report(report)),
  };
}

/** One API process. */
class Worker {
  readonly child: Child;
  readonly #options: ApiProcessOptions;
  readonly #peers: PeerRelay;
  readonly #index: number;
  #port = 0;
  #ready: ApiReady | undefined;
  #serves = false;
  #onMessage: (message: FromApi) => void = () => {};
  #runnerClient: RunnerClient | undefined;
  #peerClient: PeerClient | undefined;
  readonly #heartbeat: Heartbeat;

  constructor(options: ApiProcessOptions, peers: PeerRelay, index: number) {
    this.#options = options;
    this.#peers = peers;
    this.#index = index;
    this.#heartbeat = new Heartbeat(options.heartbeat ?? apiHeartbeat);
    const name = index === 0 ? 'api' : `api ${index}`;
    this.child = new Child(
      {
        name,
        command: () => this.#command(),
        whenReady: (running) => this.#whenReady(running),
        readyTimeoutMs: readyTimeoutMs,
        watch: (running, ended) => this.#heartbeat.watch(() => send(running, { type: 'ping' }), ended),
        // Before it serves there is no request to finish, and it may not read messages yet.
        askToStop: (running) => this.#serves ? send(running, { type: 'stop' }) : running.killGroup(),
        stopTimeoutMs: stopTimeoutMs,
        restarts: coreRestartRules,
      },
      options.onEvent,
    );
  }

  async start(port: number): Promise<ApiReady> {
    this.#port = port;
    await this.child.start();
    if (this.#ready === undefined) throw new StartRefused('the API was ready without saying where');
    return this.#ready;
  }

  report(report: RunnerReport): void {
    const { running } = this.child;
    if (this.#serves && running !== undefined) send(running, report);
  }

  #command(): Command {
    this.#serves = false;
    const { user, path, program = apiProgram, stdout } = this.#options;
    const { runAs, cache } = user ?? { runAs: asCaller, cache: compileCacheEnvironment() };
    const command = runAs({
      file: process.execPath,
      args: [preload, program],
      env: { PATH: path, ...cache, ...trustEnvironment(), ...user === undefined ? {} : homeless },
      ipc: { onMessage: (message) => this.#receive(message) },
      stdout,
    });
    return { ...command, orphanSignal: 'KILL' };
  }

  async #whenReady(running: RunningProcess): Promise<void> {
    const ready = Promise.withResolvers<ApiReady>();
    this.#onMessage = (message) => {
      if (message.type === 'ready') ready.resolve(message);
      if (message.type === 'failed') ready.reject(new StartRefused(message.message));
    };
    const { config, masterKey, runners } = this.#options;
    const client = runners.connect((report, socket) => running.send(report, socket));
    this.#runnerClient = client;
    void running.exited.then(() => client.close());
    send(running, {
      type: 'start',
      config: { ...config, http: { ...config.http, port: this.#port } },
      database: await this.#options.database,
      masterKey: masterKey.toString('base64'),
      worker: this.#index,
      successor: this.#ready !== undefined,
      sandbox: await this.#options.sandbox,
    });
    this.#ready = await ready.promise;
    this.#serves = true;
    const peer = this.#peers.join((report) => running.send(report));
    this.#peerClient = peer;
    void running.exited.then(() => peer.close());
    // A successor must listen on the same port, even if the system chose it.
    this.#port = Number(new URL(this.#ready.url).port);
  }

  #receive(message: unknown): void {
    if (!isApiMessage(message)) return;
    if (message.type === 'pong') this.#heartbeat.beat();
    if (message.type === 'progress') this.#options.onProgress(message.message);
    if (isRunnerRequest(message)) this.#runnerClient?.handle(message);
    if (isPeerRequest(message)) this.#peerClient?.handle(message);
    this.#onMessage(message);
  }
}

function send(running: RunningProcess, message: ToApi): void {
  running.send(message);
}
