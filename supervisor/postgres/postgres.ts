// The embedded PostgreSQL: one cluster under the data directory, reached by a Unix socket only.
import { chmod, mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Child, type ChildEvent } from '../child.ts';
import { linkLibraries } from './library-links.ts';
import { findPostgresBinaries, type PostgresBinaries } from './binaries.ts';
import { clusterFolder, errorInLine, makeCluster, provisionerName } from './cluster.ts';
import { findClosedDirectory } from '../closed-directory.ts';
import { type ClusterPaths, type ClusterUse, pgHbaConf, postgresqlConf } from './config.ts';
import { endOrphans, removeStalePid } from './orphans.ts';
import { makeSocketDirectory, socketPort } from './socket.ts';
import {
  type Account,
  asAccount,
  asAccountWith,
  asCaller,
  hasSetpriv,
  type RunAs,
  serviceAccount,
  serviceUserName,
} from './user.ts';
import type { DatabaseAccess } from '../protocol.ts';
import { coreRestartRules } from '../restarts.ts';
import type { Command, RunningProcess } from '../spawn.ts';
import { StartRefused } from '../start-refused.ts';

/** The needs of a start of the embedded PostgreSQL. */
export interface PostgresOptions {
  dataDir: string;
  /** Password of the provisioner role. */
  password: string;
  /** The supervisor's own user. */
  uid: number;
  /** The user that connects, if it is another. */
  client?: Account | undefined;
  path: string;
  platform: string;
  arch: string;
  /** How many processes there are that share its connections. */
  apiProcesses: number;
  /** True where data need not outlive a power cut. */
  isThrowaway?: boolean;
  stop: AbortSignal;
  onEvent: (event: ChildEvent) => void;
  onLine: (line: string) => void;
  /** Gets lines for the operator. */
  report: (level: 'info' | 'warn', message: string) => void;
}

/** A PostgreSQL that is starting or running. */
export interface Postgres {
  access: DatabaseAccess;
  start: () => Promise<void>;
  /** The error of a failed start; while PostgreSQL does not run, also its last complaint. */
  withLastError: (failure: unknown) => unknown;
  stop: () => Promise<void>;
  kill: () => void;
}

/** Crash recovery after a power cut may read gigabytes of log. */
const readyTimeoutMs = 600_000;
// The last checkpoint writes all that is new; of hundreds of new workspaces that takes a while.
const stopTimeoutMs = 120_000;
const readyPollMs = 5;

/**
 * The memory of one of PostgreSQL's processes, its part of the shared memory not counted (RLIMIT_DATA,
 * https://man7.org/linux/man-pages/man2/setrlimit.2.html). A query of a tenant may make values of 1 GB, a few at a time: with
 * this it fails for want of memory, and the kernel does not end the server of all.
 */
const maxProcessKib = 512 * 1024;

/** Prepares the cluster, which is made if there is none. Throws `StartRefused`. */
export async function preparePostgres(options: PostgresOptions): Promise<Postgres> {
  return await prepare(options).catch((error: unknown) => {
    // A full disk, or what another user has left: the operator's to mend, and no defect.
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new StartRefused(`PostgreSQL cannot be prepared in data_dir ${options.dataDir}: ${error.message}`);
  });
}

async function prepare(options: PostgresOptions): Promise<Postgres> {
  const programs = findPostgresBinaries(options.platform, options.arch);
  const data = clusterFolder(options.dataDir);
  const base = dirname(data);
  await mkdir(base, { recursive: true });
  await chmod(base, options.uid === 0 ? 0o711 : 0o700);
  const owner = await stat(data).catch(() => undefined);
  if (owner !== undefined && options.uid !== 0 && owner.uid !== options.uid) {
    throw new StartRefused(
      `${data} belongs to another user (uid ${owner.uid}): start bulkhead as root or as that user`,
    );
  }
  const account = await serviceAccount({ uid: options.uid, clusterOwner: owner, path: options.path });
  const runAs = await chooseRunAs(options, account, [data, await realpath(programs.postgres)]);
  const links = { aside: join(base, 'libraries'), platform: options.platform };
  const binaries = { ...programs, env: await linkLibraries(programs.home, links) };
  if (owner === undefined) {
    options.report('info', `making the PostgreSQL cluster ${data}`);
    const { password, path, stop, isThrowaway = false } = options;
    await makeCluster({ binaries, data, account, runAs, password, path, stop, isThrowaway });
  }
  const socket = await makeSocketDirectory(options.dataDir, account, options.client);
  const paths: ClusterPaths = { data, socket: socket.path, config: base };
  await writeConfiguration(paths, options);
  let complaint = '';
  const onLine = (line: string) => {
    complaint = errorInLine(line) ?? complaint;
    options.onLine(line);
  };
  const child = supervise({ options: { ...options, onLine }, binaries, runAs, paths });
  const explain = (failure: unknown) => {
    if (child.state === 'ready' || complaint === '' || !(failure instanceof StartRefused)) return failure;
    return new StartRefused(`${failure.message}: in ${data}: ${complaint}`);
  };
  return {
    access: accessBy(socket.path, options.password),
    start: () => child.start().catch((error: unknown) => Promise.reject(explain(error))),
    withLastError: explain,
    stop: async () => {
      await child.stop();
      await socket.remove();
    },
    kill: () => child.kill(),
  };
}

/** How to reach the embedded PostgreSQL whose socket is in this directory. */
export function accessBy(host: string, password: string): DatabaseAccess {
  return {
    host,
    port: socketPort,
    username: provisionerName,
    password,
    database: provisionerName,
    ssl: 'disable',
  };
}

async function chooseRunAs(
  options: PostgresOptions,
  account: Account | undefined,
  paths: readonly string[],
): Promise<RunAs> {
  if (account === undefined) return asCaller;
  const closed = await findClosedDirectory(account, paths);
  if (closed === undefined) return asAccount(account);
  const problem = `the user of PostgreSQL (${serviceUserName}, uid ${account.uid}) may not pass ${closed}`;
  if (!await hasSetpriv(options.path)) throw new StartRefused(`${problem}: run chmod o+x ${closed}`);
  options.report(
    'warn',
    `${problem}: it runs with the capability dac_read_search; chmod o+x ${closed} avoids that`,
  );
  return asAccountWith(account, ['dac_read_search']);
}

async function writeConfiguration(paths: ClusterPaths, use: ClusterUse): Promise<void> {
  const files = {
    'postgresql.conf': postgresqlConf(paths, use),
    'pg_hba.conf': pgHbaConf(),
    'pg_ident.conf': '',
  };
  for (const [name, text] of Object.entries(files)) {
    const file = join(paths.config, name);
    await writeFile(file, text);
    // PostgreSQL's user must be able to read it, whatever the umask.
    await chmod(file, 0o644);
  }
}

interface Start {
  options: PostgresOptions;
  binaries: PostgresBinaries;
  runAs: RunAs;
  paths: ClusterPaths;
}

function supervise(start: Start): Child {
  return new Child(
    {
      name: 'postgres',
      command: () => postmaster(start),
      whenReady: (running, ended) => untilReady(start.paths.data, running, ended),
      readyTimeoutMs: readyTimeoutMs,
      // Fast shutdown: open transactions are rolled back, then everything is flushed.
      askToStop: (running) => running.signal('SIGINT'),
      stopTimeoutMs: stopTimeoutMs,
      restarts: coreRestartRules,
    },
    start.options.onEvent,
  );
}

async function postmaster({ options, binaries, runAs, paths }: Start): Promise<Command> {
  await endOrphans(paths.data);
  await removeStalePid(paths.data);
  const server = [
    binaries.postgres,
    ...['-D', paths.data, '-c', `config_file=${join(paths.config, 'postgresql.conf')}`],
  ];
  const command = runAs({
    file: '/bin/sh',
    args: ['-c', `ulimit -d ${maxProcessKib}; exec "$@"`, 'sh', ...server],
    env: { PATH: options.path, LC_ALL: 'C', TZ: 'UTC', ...binaries.env },
    onLine: options.onLine,
  });
  return { ...command, orphanSignal: 'QUIT' };
}

/** Line 1 of `postmaster.pid` is the process, line 8 its state: what `pg_ctl` reads, and no connection is needed. */
async function untilReady(data: string, running: RunningProcess, ended: AbortSignal): Promise<void> {
  const file = join(data, 'postmaster.pid');
  while (!ended.aborted) {
    const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n');
    if (Number(lines[0]) === running.pid && lines[7]?.trim() === 'ready') return;
    await pause(readyPollMs);
  }
}
