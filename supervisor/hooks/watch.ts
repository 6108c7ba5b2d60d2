// Watching the hook files of all apps, `<hooks.dir>/<workspace>/<app>/<file>`.
import { realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { FSWatcher } from 'chokidar';

/** A change of an app's files; the folder names need not be ids of anything. */
export interface HookChange {
  workspace: string;
  app: string;
}

/** The reports of the watch. */
export interface WatchOptions {
  directory: string;
  onChange: (change: HookChange) => void;
  onError: (error: unknown) => void;
}

/** An editor's way of saving is several changes; what follows the first within so many milliseconds is one with it. */
const debounceMs = 50;

/** Names that hook files may have: what editors leave beside them never looks so. */
const hookFile = /^[A-Za-z0-9_].*\.(js|ts)$/;
/** Names of workspaces, apps and their files, and not of an editor's or npm's folders. */
const ignored = /^\.|^node_modules$/;

/** Watches until the returned function is called. */
export async function watchHooks(
  { directory, onChange, onError }: WatchOptions,
): Promise<() => Promise<void>> {
  const root = await realpath(directory);
  const waiting = new Map<string, NodeJS.Timeout>();
  // Loaded only now: the start of the server does not wait for it.
  const { watch } = await import('chokidar');
  const watcher: FSWatcher = watch(root, {
    ignored: (path) => path !== root && ignored.test(path.slice(path.lastIndexOf(sep) + 1)),
    ignoreInitial: true,
    followSymlinks: false,
    depth: 2,
  });
  const ready = new Promise<void>((resolve) => watcher.once('ready', resolve));
  watcher.on('error', onError);
  watcher.on('all', (event, path) => {
    const [workspace, app, file, ...deeper] = relative(root, path).split(sep);
    if (workspace === undefined || app === undefined || file === undefined || deeper.length > 0) return;
    if (event.endsWith('Dir') || !hookFile.test(file)) return;
    const key = join(workspace, app);
    if (waiting.has(key)) return;
    const tell = () => waiting.delete(key) && onChange({ workspace, app });
    waiting.set(key, setTimeout(tell, debounceMs));
  });
  await ready;
  return async () => {
    for (const timer of waiting.values()) clearTimeout(timer);
    await watcher.close();
  };
}
