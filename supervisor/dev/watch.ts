// Watches the files of a project for `bulkhead dev`.
import { join } from 'node:path';
import type { FSWatcher } from 'chokidar';

/** An editor's way of saving is several changes; what follows the first within so many milliseconds is one with it. */
const debounceMs = 50;

/** Calls `onChange` after files in `bulkhead/` have changed, once it is ready. Never twice at the same time. */
export async function watchProject(onChange: () => Promise<void>): Promise<() => Promise<void>> {
  const { watch } = await import('chokidar');
  const folders = ['hooks', 'schema'].map((name) => join('bulkhead', name));
  const watcher: FSWatcher = watch(folders, { ignoreInitial: true, depth: 0, ignored: /\.d\.ts$|[/\\]\./ });
  const ready = new Promise<void>((resolve) => watcher.once('ready', resolve));
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  watcher.on('all', (event, path) => {
    if (event.endsWith('Dir') || !/\.(ts|js|json)$/.test(path)) return;
    clearTimeout(timer);
    timer = setTimeout(() => running = running.then(onChange), debounceMs);
  });
  await ready;
  return async () => {
    clearTimeout(timer);
    await watcher.close();
  };
}
