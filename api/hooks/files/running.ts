// Which version of each hook file runs, as the routes for hook files show it.
import { listHookVersions } from '../../../storage/app/hook-versions.ts';
import type { AppIdentity } from '../../../storage/definition.ts';
import type { Deps } from '../../deps.ts';
import type { AppHooks } from '../app-hooks.ts';
import type { RunningFile } from '../ports.ts';
import { toVersion } from './file-version.ts';
import { hookFolder, readFolder } from './folder.ts';

/** The files of an app, by name. Throws `StorageError`. */
export async function listRunningFiles(
  { config, databases }: Pick<Deps, 'config' | 'databases'>,
  { workspace, id, schema }: AppIdentity,
  { registrations }: Pick<AppHooks, 'registrations'>,
): Promise<RunningFile[]> {
  const read = await readFolder(hookFolder(config, { workspace, id }));
  const pool = databases.app(workspace.database, schema);
  const rows = await pool.run((sql) => listHookVersions(sql, schema));
  const broken = new Set(registrations?.broken.map(({ file }) => file));
  const versions = new Map(rows.flatMap((row) => broken.has(row.filename) ? [] : [[row.filename, row]]));
  return read.filter((file) => !('isLink' in file)).map((file) => {
    const { filename, size, updated_at } = file;
    const version = versions.get(filename);
    const [current] = toVersion(file);
    const is_current = version !== undefined && version.sha256 === current?.sha256;
    const isRunning = is_current || version?.has_source === true;
    const running_since = isRunning ? version?.loaded_at ?? null : null;
    return { filename, size, updated_at, running_since, is_current };
  });
}
