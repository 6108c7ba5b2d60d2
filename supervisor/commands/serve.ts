// `bulkhead serve`: brings the processes up in order and takes them down in reverse.
import { type ApiProcesses, createApiProcesses } from '../api-process.ts';
import { type ApiUser, chooseApiUser } from '../api-user.ts';
import type { ChildEvent } from '../child.ts';
import { searchPath } from '../config.ts';
import { type DataDir, makeDirectory, openDataDir } from '../data-dir.ts';
import { parseDatabaseUrl } from '../database-url.ts';
import { checkFormerDatabase, markServed } from '../former-database.ts';
import { createHookProcesses, type HookProcesses } from '../hooks/hooks.ts';
import { protectFromOom } from '../hooks/priority.ts';
import { type KernelShares, openControlGroups } from '../hooks/shares/control-groups.ts';
import { derivePassword, openMasterKey } from '../master-key.ts';
import { createOutput, type Output } from '../output.ts';
import { provisionerName } from '../postgres/cluster.ts';
import { type Postgres, preparePostgres } from '../postgres/postgres.ts';
import type { Config, DatabaseAccess } from '../protocol.ts';
import { openStandardOutput, type StandardOutput } from '../standard-output.ts';

/** The signals that stop the server, and stop it at once when they are repeated. */
export interface StopSignals {
  stop: AbortSignal;
  kill: AbortSignal;
}

/** A server that has started. */
export interface Started {
  url: string;
  /** True when the master admin has a password. */
  initialized: boolean;
}

/** A server within another command. */
export interface Within {
  /** Called when it listens; what it does must not throw. */
  onStarted: (started: Started) => void;
  /** Where its log goes; to standard output if left out. */
  output?: StandardOutput;
  /** True of a server whose data need not outlive a power cut. */
  isThrowaway?: boolean;
}

/** Runs the server until it is told to stop. Throws `StartRefused`, with everything down again. */
export async function serve(config: Config, signals: StopSignals, within?: Within): Promise<void> {
  const { write, descriptor: stdout } = within?.output ?? openStandardOutput();
  const output = createOutput({ ...config.log, now: () => new Date(), write });
  const uid = process.getuid?.() ?? 0;
  const dataDir = await openDataDir(config.data_dir, uid);
  // Before anything is started.
  const isThrowaway = within?.isThrowaway === true;
  const kernel = isThrowaway
    ? { groups: undefined, why: 'it is a throw-away server' }
    : openControlGroups({ dataDir: dataDir.path });
  try {
    if (!isThrowaway) await protectFromOom();
    const placed = { ...config, data_dir: dataDir.path };
    checkFormerDatabase(placed, output);
    await makeDirectory('hooks.dir', config.hooks.dir, 0o700);
    warnRoot(output, dataDir, uid);
    const masterKey = await openMasterKey(dataDir.path, config.secrets.master_key);
    const user = await chooseApiUser({
      ...{ config: placed, dataDir, uid, path: searchPath(), say: output.log },
      platform: process.platform,
    });
    await run(placed, { signals, output, stdout, uid, user, kernel, masterKey, within });
    output.log('info', 'stopped');
  } finally {
    kernel.groups?.close();
    dataDir.release();
  }
}

interface ServeContext {
  signals: StopSignals;
  output: Output;
  stdout: number;
  uid: number;
  /** The user of the API processes. */
  user: ApiUser | undefined;
  kernel: KernelShares;
  masterKey: Buffer;
  within: Within | undefined;
}

async function run(config: Config, surroundings: ServeContext): Promise<void> {
  const { signals, output, masterKey, user, stdout } = surroundings;
  const onEvent = (event: ChildEvent) => reportEvent(output, event);
  const postgres = config.database.url === ''
    ? await prepareEmbedded(config, surroundings, onEvent)
    : undefined;
  if (signals.stop.aborted) return await postgres?.stop();
  const database = Promise.withResolvers<DatabaseAccess>();
  const { uid, kernel } = surroundings;
  const hooks = createHookProcesses({
    ...{ config, uid, api: user?.account, kernel },
    path: searchPath(),
    say: output.log,
  });
  const api = createApiProcesses({
    config,
    masterKey,
    database: database.promise,
    sandbox: hooks.sandbox,
    runners: hooks.runners,
    path: searchPath(),
    user,
    stdout,
    onEvent,
    onProgress: (message) => output.log('info', message),
  });
  const hurry = () => [api, postgres].forEach((part) => part?.kill());
  signals.kill.addEventListener('abort', hurry, { once: true });
  try {
    // The API loads while PostgreSQL starts.
    const ready = api.start();
    ready.catch(() => 'awaited below');
    if (postgres !== undefined) await untilStopped(postgres.start(), signals.stop);
    database.resolve(postgres?.access ?? parseDatabaseUrl(config.database.url));
    const explained = ready.catch((error: unknown) =>
      Promise.reject(postgres?.withLastError(error) ?? error)
    );
    const started = await untilStopped(explained, signals.stop);
    if (started !== undefined) {
      await markServed(config, output);
      announce(output, config, { ...started, isExplained: surroundings.within === undefined });
      surroundings.within?.onStarted(started);
      void hooks.watch((change) => api.broadcast({ type: 'hooks_changed', ...change }));
      await aborted(signals.stop);
      output.log('info', 'stopping');
    }
  } finally {
    await takeDown({ api, hooks, postgres });
  }
}

/** Root may serve what is another's, who then finds hooks and files that only root can read. */
function warnRoot(output: Output, { path, owner }: DataDir, uid: number): void {
  if (uid !== 0 || owner === 0) return;
  output.log(
    'warn',
    `data_dir ${path} belongs to another user (uid ${owner}), who cannot read what is written as root: ` +
      `run chown -R ${owner} ${path} before that user starts the server`,
  );
}

async function takeDown(
  { api, hooks, postgres }: { api: ApiProcesses; hooks: HookProcesses; postgres: Postgres | undefined },
): Promise<void> {
  await api.stop();
  await hooks.stop();
  await postgres?.stop();
}

/** Undefined when the server is told to stop meanwhile: what was cut off then is made at the next start. */
async function prepareEmbedded(
  config: Config,
  { signals, output, uid, user, masterKey, within }: ServeContext,
  onEvent: (event: ChildEvent) => void,
): Promise<Postgres | undefined> {
  const prepared = preparePostgres({
    dataDir: config.data_dir,
    password: derivePassword(masterKey, provisionerName),
    uid,
    client: user?.account,
    isThrowaway: within?.isThrowaway === true,
    path: searchPath(),
    platform: process.platform,
    arch: process.arch,
    apiProcesses: config.api.workers,
    stop: signals.stop,
    onEvent,
    onLine: output.postgresLine,
    report: (level, message) => output.log(level, message),
  });
  return await prepared.catch((error: unknown) => {
    if (signals.stop.aborted) return undefined;
    throw error;
  });
}

function announce(
  output: Output,
  { http: { port } }: Config,
  { url, initialized, isExplained }: Started & { isExplained: boolean },
): void {
  const message = `listening on ${url}`;
  const fields = { url, initialized, pid: process.pid };
  // A port that nobody chose is to be learned here only.
  if (port === 0) output.logAlways(message, fields);
  else output.log('info', message, fields);
  if (initialized || !isExplained) return;
  output.hint('Set the password of the master admin, which opens the server:');
  output.hint(
    `  curl -X POST ${url}/_/setup -H 'Content-Type: application/json' -d '{"password":"choose a long one"}'`,
  );
}

function reportEvent(output: Output, event: ChildEvent): void {
  if (event.type === 'ready') {
    const { name, pid, milliseconds } = event;
    output.log('debug', `${name} is ready`, { process: name, pid, milliseconds });
    return;
  }
  const { name, reason, wait, opened } = event;
  const what = opened ? 'keeps dying, and rests before it is started again' : 'died and is started again';
  output.log('error', `${name} ${what}`, { process: name, reason, wait_ms: wait });
}

/** The result of the work, or undefined when the server is told to stop first. */
async function untilStopped<Result>(work: Promise<Result>, stop: AbortSignal): Promise<Result | undefined> {
  work.catch(() => 'awaited by the race, or no longer of interest');
  return await Promise.race([work, aborted(stop).then(() => undefined)]);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
