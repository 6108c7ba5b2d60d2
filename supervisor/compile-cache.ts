// Node's compile cache, for a server that runs from its sources. Without it every process keeps the TypeScript
// compiler in memory (30 MB) and starts half a second later; the published program is JavaScript and needs none.
import { accessSync, constants as fileModes, readdirSync, statSync, utimesSync } from 'node:fs';
import { constants, enableCompileCache, flushCompileCache, getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Beside the code, so that only who may change the code may change what is run in its place.
const root = fileURLToPath(new URL('..', import.meta.url));
const directory = join(root, 'node_modules', '.cache', 'bulkhead');
const sources = ['supervisor', 'api', 'storage', 'hook-runner'].map((folder) => join(root, folder));

/**
 * Loads the API as it is loaded to run, as V8 compiles anew what was compiled under other flags, but without running it:
 * it waits for a message that does not come. A mistake in it shows where it runs.
 */
const loadApi = `--import=data:text/javascript,${
  encodeURIComponent(
    `${importCode('../api/process/v8-flags.ts')};${importCode('../api/main.ts')}.catch(() => {})`,
  )
}`;

/**
 * Starts this process again, in place and with the same arguments, so that the cache is on from its first moment; when
 * sources are newer than the cache, once more before that, only to fill it with what `load` imports and the API.
 * Returns when the cache is on, or cannot be used: then all goes on without it.
 */
export async function startWithCompileCache(load: () => Promise<unknown>): Promise<void> {
  if (!import.meta.url.endsWith('.ts')) return;
  if (process.execArgv.includes(loadApi)) {
    await load();
    flushCompileCache();
    utimesSync(cacheFolder(), new Date(), new Date());
    await startAgain(process.execArgv.filter((argument) => argument !== loadApi));
  } else if (getCompileCacheDir() === undefined) {
    if (enableCompileCache(directory).status !== constants.compileCacheStatus.ENABLED) return;
    await startAgain(isStale() ? [...process.execArgv, loadApi] : process.execArgv);
  }
}

/** The variable that turns the same cache on in a child of this process. */
export function compileCacheEnvironment(): Record<string, string> {
  return getCompileCacheDir() === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cacheFolder()) };
}

function importCode(path: string): string {
  return `await import(${JSON.stringify(new URL(path, import.meta.url).href)})`;
}

/** Node keeps a folder for each of its versions. */
function cacheFolder(): string {
  return getCompileCacheDir() ?? directory;
}

function isStale(): boolean {
  // As on a file system that is read-only: what the cache lacks is compiled at each start.
  if (!isWritable(cacheFolder())) return false;
  if (readdirSync(cacheFolder()).length === 0) return true;
  const filled = statSync(cacheFolder()).mtimeMs;
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
