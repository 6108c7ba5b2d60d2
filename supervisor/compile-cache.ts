// Node's compile cache, for a server that runs from its sources. Without it every process keeps the TypeScript compiler in
// memory (30 MB) and starts half a second later. The published program is JavaScript and does not need it.
import {
  accessSync,
  chmodSync,
  constants as fileModes,
  existsSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { constants, enableCompileCache, flushCompileCache, getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Beside the code, so that only users who may change the code may change the compiled code.
const root = fileURLToPath(new URL('..', import.meta.url));
const directory = join(root, 'node_modules', '.cache', 'bulkhead');
// Node keeps a folder for each user and for each set of V8's flags, and this process has others when it looks here than when
// it has filled the cache: so the time of that is kept in a file.
const stamp = join(directory, `filled-${process.version}-${process.arch}-${process.getuid?.() ?? 0}`);
const sources = ['supervisor', 'api', 'storage', 'hook-runner'].map((folder) => join(root, folder));

/**
 * What imports `node:process` reads all of its properties, and so opens standard input, which makes a pipe non-blocking for all
 * who share it. Node sets that back at its end, but not where it restarts in place.
 */
const hideStandardInput = "Object.defineProperty(process, 'stdin', { value: undefined })";

/**
 * Code that loads the API without running it: it waits for a start message that never comes. The flags are those of an API
 * process, as V8 rejects code that was compiled under others. Errors are ignored here; they show when the API runs.
 */
const loadApi = `--import=data:text/javascript,${
  encodeURIComponent(
    `${hideStandardInput};${importCode('../api/process/v8-flags.ts')};${
      importCode('../api/main.ts')
    }.catch(() => {})`,
  )
}`;

/**
 * Restarts this process in place, with the same arguments and the cache enabled from its first moment. When sources are
 * newer than the cache, it first restarts once more, only to fill the cache with the API and the imports of `load`. Returns
 * when the cache is enabled, or cannot be used.
 */
export async function startWithCompileCache(load: () => Promise<unknown>): Promise<void> {
  if (!import.meta.url.endsWith('.ts')) return;
  if (process.execArgv.includes(loadApi)) {
    await load();
    flushCompileCache();
    openToReaders();
    writeFileSync(stamp, '');
    await startAgain(process.execArgv.filter((argument) => argument !== loadApi));
  } else if (getCompileCacheDir() === undefined) {
    if (enableCompileCache(directory).status !== constants.compileCacheStatus.ENABLED) return;
    await startAgain(isStale() ? [...process.execArgv, loadApi] : process.execArgv);
  }
}

/** The folder of this process's compiled code; undefined while the cache is not enabled. */
export function compileCacheFolder(): string | undefined {
  return getCompileCacheDir();
}

/** The environment variable that enables the same cache in a child process. */
export function compileCacheEnvironment(): Record<string, string> {
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

function importCode(path: string): string {
  return `await import(${JSON.stringify(new URL(path, import.meta.url).href)})`;
}

/** Node makes the files readable for this user only, and the API of a server that root starts is another. */
function openToReaders(): void {
  const folder = compileCacheFolder();
  if (folder === undefined || process.getuid?.() !== 0) return;
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644);
}

function isStale(): boolean {
  // On a read-only file system, whatever the cache lacks is compiled at each start.
  if (!isWritable(directory)) return false;
  if (!existsSync(stamp)) return true;
  if (!isWritable(stamp)) return false;
  const filled = statSync(stamp).mtimeMs;
  const isNewer = (path: string) => statSync(path).mtimeMs > filled;
  return sources.some((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).some((path) => isNewer(join(folder, path)))
  );
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, fileModes.W_OK);
    return true;
  } catch {
    return false;
  }
}

async function startAgain(options: readonly string[]): Promise<void> {
  const { environment } = await import('./config.ts');
  const args = [process.execPath, ...options, ...process.argv.slice(1)];
  process.execve?.(process.execPath, args, { ...environment(), NODE_COMPILE_CACHE: directory });
}
