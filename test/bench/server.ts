// The server under measurement: the real supervisor on a data directory of its own. Its output goes to a file, as it
// would to a journal: nobody reads along and spends CPU time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findDescendant } from './proc.ts';

/** A server that answers. */
export interface BenchServer {
  url: string;
  port: number;
  dataDir: string;
  /** Process number of the supervisor. */
  pid: number;
  /** Process number of the API. */
  apiPid: number;
  /** Milliseconds from the start of the process until `/healthz` answered. */
  startedIn: number;
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL('../../supervisor/main.ts', import.meta.url));

/** Raised, not off: every request still takes its token. */
const settings = [
  'rate_limit.per_second=1000000',
  'rate_limit.burst=1000000',
  'http.port=0',
  'log.format=json',
];

/** A new data directory, not made yet, in a folder of its own. */
export async function makeDataDir(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'bulkhead-bench-'));
  // PostgreSQL runs as another user when we are root, and must get through.
  await chmod(home, 0o711);
  return join(home, 'data');
}

/** Removes a data directory and the folder around it. */
export async function removeDataDir(dataDir: string): Promise<void> {
  await rm(dirname(dataDir), { recursive: true, force: true });
}

/** Runs work in a new directory that is removed afterwards. */
export async function withDataDir<Result>(work: (dataDir: string) => Promise<Result>): Promise<Result> {
  const dataDir = await makeDataDir();
  try {
    return await work(dataDir);
  } finally {
    await removeDataDir(dataDir);
  }
}

/**
 * Starts the server, with `more` settings, and waits until it answers. Throws with its output when it ends instead.
 * `main` is the program, by default that of this checkout.
 */
export async function startServer(
  dataDir: string,
  more: readonly string[] = [],
  main = program,
): Promise<BenchServer> {
  const log = `${dataDir}.log`;
  const descriptor = openSync(log, 'w');
  const started = performance.now();
  const flags = [`data_dir=${dataDir}`, ...settings, ...more].map((setting) => `--set=${setting}`);
  const child = spawn(process.execPath, [main, 'serve', ...flags], {
    stdio: ['ignore', descriptor, descriptor],
    env: { PATH: process.env['PATH'] },
  });
  closeSync(descriptor);
  const url = await urlIn(log, () => child.exitCode !== null);
  const response = await fetch(`${url}/healthz`);
  await response.text();
  const startedIn = performance.now() - started;
  const pid = child.pid ?? Number.NaN;
  const apiPid = findDescendant(pid, join('api', 'main.ts'));
  if (apiPid === undefined) throw new Error('the server has no API process');
  return {
    url,
    port: Number(new URL(url).port),
    dataDir,
    pid,
    apiPid,
    startedIn,
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}

/** The address that the supervisor prints; a file has no event for a new line that came from another process. */
async function urlIn(log: string, ended: () => boolean): Promise<string> {
  for (;;) {
    const isLast = ended();
    const text = await readFile(log, 'utf8');
    const url = /"url":"(http:[^"]+)"/.exec(text)?.[1];
    if (url !== undefined) return url;
    if (isLast) throw new Error(`the server did not start:\n${text}`);
    await pause(2);
  }
}
