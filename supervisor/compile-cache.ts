// Node's compile cache, for a server that runs from its sources. Without it every process keeps the TypeScript
// compiler in memory (30 MB) and starts half a second later; the published program is JavaScript and needs none.
import { readdirSync } from 'node:fs';
import { constants, enableCompileCache, flushCompileCache, getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

// Beside the code, so that only who may change the code may change what is run in its place.
const directory = fileURLToPath(new URL('../node_modules/.cache/bulkhead', import.meta.url));
const programs = ['./commands/command-line.ts', '../api/main.ts'].map((path) =>
  new URL(path, import.meta.url)
);

/**
 * Starts this process again, in place and with the same arguments, until the cache is on from its first moment and
 * filled. Returns when it is, or when it cannot be used: then all goes on without it.
 */
export async function startWithCompileCache(): Promise<void> {
  if (!import.meta.url.endsWith('.ts')) return;
  if (getCompileCacheDir() !== undefined) {
    if (isFilled()) return;
    // Loading has no effect in this process: the API waits for a message, the command line for its call.
    await Promise.allSettled(programs.map((program) => import(program.href)));
    flushCompileCache();
    if (!isFilled()) return;
  } else if (enableCompileCache(directory).status !== constants.compileCacheStatus.ENABLED) return;
  const { environment } = await import('./config.ts');
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(process.execPath, args, { ...environment(), NODE_COMPILE_CACHE: directory });
}

/** The variable that turns the same cache on in a child of this process. */
export function compileCacheEnvironment(): Record<string, string> {
  const used = getCompileCacheDir();
  return used === undefined ? {} : { NODE_COMPILE_CACHE: dirname(used) };
}

function isFilled(): boolean {
  return readdirSync(getCompileCacheDir() ?? directory).length > 0;
}
