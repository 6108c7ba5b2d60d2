// A real server for tests: the supervisor as a process of its own, with a temporary data directory.
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

/** Settings, nested as in a configuration file; a dotted key will do too. */
export interface ServerSettings {
  readonly [key: string]: string | number | boolean | readonly string[] | ServerSettings;
}

/** How to start a server. */
export interface ServerOptions {
  config?: ServerSettings;
  /** Uses this data directory, and leaves it there. */
  dataDir?: string;
  /** Leaves the temporary data directory there after `stop`. */
  keep?: boolean;
  /** Runs a copy of the sources that is there. */
  root?: string;
  /** The program to run, in place of the sources. */
  program?: string;
  /** The Node to run it under, in place of the pinned one. */
  node?: string;
  /** Where the supervisor looks for programs, in place of where this process does. */
  path?: string;
  /** Where temporary files go, in place of the system's folder. */
  temporary?: string;
  /** Runs the supervisor as this user; only root can. */
  user?: { uid: number; gid: number };
  /** Starts with nothing at all, as the test is about the first start. */
  isFirstStart?: boolean;
  /** Keeps its data on a disk: those of hundreds of workspaces are more than memory should hold. */
  isLarge?: boolean;
  /** Starts it where this file is open, as descriptor 30. */
  inherited?: string;
}

/** How a server ended. */
export interface ServerExit {
  code: number | undefined;
  signal: string | undefined;
}

/** A running server. */
export interface TestServer {
  url: string;
  dataDir: string;
  /** Process number of the supervisor. */
  pid: number;
  /** Every line it wrote so far. */
  output: readonly string[];
  exited: Promise<ServerExit>;
  /** Resolves with the first line, from the first on, that holds the text. Rejects when the server ends without it. */
  line(text: string): Promise<string>;
  /** Asks it to stop, as an operator would, and waits. Removes the temporary data directory. */
  stop(): Promise<void>;
  /** Signals the supervisor alone. */
  kill(signal: NodeJS.Signals): void;
}

/** Names the data directory of a server that was started once and never set up: a copy saves a test the first start. */
const templateVariable = 'TEST_TEMPLATE_DIR';

/** Makes the data directory that later starts copy. Returns what removes it. */
export async function makeTemplate(): Promise<() => Promise<void>> {
  // One for all projects of a run.
  if (templateVariable in process.env) return () => Promise.resolve();
  const folder = await mkdtemp(join(tmpdir(), 'bulkhead-template-'));
  const dataDir = join(folder, 'data');
  await (await startServer({ dataDir })).stop();
  process.env[templateVariable] = dataDir;
  return () => rm(folder, { recursive: true, force: true });
}

/** Gives the data directory to the server's user, or makes it a copy of the template. */
async function fillDataDir(dataDir: string, options: ServerOptions, flags: readonly string[]): Promise<void> {
  if (options.user !== undefined && options.dataDir === undefined) {
    await mkdir(dataDir);
    await chown(dataDir, options.user.uid, options.user.gid);
  }
  if (beginsAfterFirstStart(options, flags)) {
    await execa('cp', ['-aT', process.env[templateVariable] ?? '', dataDir]);
  }
}

/** True when the start may use a copy of the template: it has an embedded database, and no data directory yet. */
function beginsAfterFirstStart(
  { dataDir, user, isFirstStart }: ServerOptions,
  flags: readonly string[],
): boolean {
  const isPlain = user === undefined && isFirstStart !== true &&
    (dataDir === undefined || !existsSync(dataDir) && existsSync(dirname(dataDir)));
  return isPlain && templateVariable in process.env &&
    !flags.some((flag) => flag.startsWith('--set=database.url='));
}

/** Memory, where the machine has enough of it: a data directory is 2,000 files, which cost a second of work on a disk. */
async function folderForServers({ isLarge = false }: ServerOptions): Promise<string> {
  const memory = '/dev/shm';
  if (isLarge || !existsSync(memory)) return tmpdir();
  const { bavail, bsize } = await statfs(memory);
  return bavail * bsize > 4 * 1024 ** 3 ? memory : tmpdir();
}

const project = fileURLToPath(new URL('../../', import.meta.url));
const node = join(project, 'node_modules', '.bin', 'node');

/** Starts `bulkhead serve` on a free port and waits until it says where it listens. Throws with its output. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const home = await mkdtemp(join(await folderForServers(options), 'bulkhead-test-'));
  // The user that PostgreSQL runs as must get through, as on a well-kept machine.
  await chmod(home, 0o711);
  const dataDir = options.dataDir ?? join(home, 'data');
  const settings = { data_dir: dataDir, 'http.port': 0, 'log.format': 'json', ...options.config };
  const flags = flatten(settings, '').map(([key, text]) => `--set=${key}=${text}`);
  await fillDataDir(dataDir, options, flags);
  const program = options.program ?? join(options.root ?? project, 'supervisor', 'main.ts');
  const { inherited } = options;
  const opened = inherited === undefined ? [] : ['-c', 'exec 30<"$0"; exec "$@"', inherited, node];
  const file = inherited === undefined ? options.node ?? node : 'bash';
  const subprocess = execa(file, [...opened, program, 'serve', ...flags], {
    cwd: home,
    env: { PATH: options.path ?? process.env['PATH'], TMPDIR: options.temporary },
    extendEnv: false,
    stdin: 'ignore',
    all: true,
    buffer: false,
    reject: false,
    // A signal is what the test says, with no SIGKILL to follow: a busy machine may need more than 5 s to stop.
    forceKillAfterDelay: false,
    ...options.user,
  });
  const lines = new Lines();
  const reading = lines.read(subprocess.iterable({ from: 'all' }));
  const exited = subprocess.then(async (result) => {
    await reading;
    if (options.keep !== true) await rm(home, { recursive: true, force: true });
    return { code: result.exitCode, signal: result.signal };
  });
  // The supervisor's own line, which comes when every API process is ready; each of those says its url before.
  const listening = await lines.find('listening on http');
  return {
    url: /(?<=listening on )[^\s"]+/.exec(listening)?.[0] ?? '',
    dataDir,
    pid: subprocess.pid ?? 0,
    output: lines.all,
    exited,
    line: (text) => lines.find(text),
    stop: async () => {
      process.kill(subprocess.pid ?? 0, 'SIGTERM');
      await exited;
    },
    kill: (signal) => void subprocess.kill(signal),
  };
}

function flatten(settings: ServerSettings, path: string): [string, string][] {
  return Object.entries(settings).flatMap(([name, value]): [string, string][] => {
    const key = path === '' ? name : `${path}.${name}`;
    if (isList(value)) return [[key, JSON.stringify(value)]];
    return typeof value === 'object' ? flatten(value, key) : [[key, String(value)]];
  });
}

function isList(value: ServerSettings[string]): value is readonly string[] {
  return Array.isArray(value);
}

/** The output so far, and who waits for more of it. */
class Lines {
  readonly all: string[] = [];
  #waiting: { text: string; resolve: (line: string) => void; reject: (error: Error) => void }[] = [];
  #ended = false;

  async read(lines: AsyncIterable<unknown>): Promise<void> {
    for await (const line of lines) this.#add(String(line));
    this.#ended = true;
    for (const { text, reject } of this.#waiting) reject(this.#missing(text));
  }

  find(text: string): Promise<string> {
    const known = this.all.find((line) => line.includes(text));
    if (known !== undefined) return Promise.resolve(known);
    if (this.#ended) return Promise.reject(this.#missing(text));
    return new Promise((resolve, reject) => this.#waiting.push({ text, resolve, reject }));
  }

  #add(line: string): void {
    this.all.push(line);
    this.#waiting.filter(({ text }) => line.includes(text)).forEach(({ resolve }) => resolve(line));
    this.#waiting = this.#waiting.filter(({ text }) => !line.includes(text));
  }

  #missing(text: string): Error {
    return new Error(`the server ended without saying ${text}; it said:\n${this.all.join('\n')}`);
  }
}
