// A snapshot of an app's hook files, taken before any of them runs, and of the versions that ran before.
import type { LoadFrame, SourceFile } from '../../../hook-runner/protocol.ts';
import type { AppIdentity } from '../../../storage/definition.ts';
import type { Deps } from '../../deps.ts';
import { openEnvironment } from '../environment.ts';
import { readFaults } from './faults.ts';
import { digest, type FileVersion, printOf, toVersion } from './file-version.ts';
import { hookFolder, readFolder } from './folder.ts';
import type { FileFault } from '../ports.ts';
import { type LoadedVersion, readVersions } from './versions.ts';

/** The code to load. */
export interface CodeSnapshot extends Pick<LoadFrame, 'env'> {
  /** The names of all files, also of those that cannot be read. */
  names: ReadonlySet<string>;
  /** The files as they are. */
  files: readonly FileVersion[];
  /** The versions that loaded last; of files that are deleted too. */
  versions: readonly LoadedVersion[];
  /** Faults of files that cannot be read. */
  readFaults: FileFault[];
  /** Tells states of the folder apart. */
  folderPrint: string;
  /** See policy `hooks.cron_min_sec`. */
  cronMinSec: number;
  /** Tells states of the code apart: of the folder, the variables, and the policy that its jobs go by. */
  fingerprint: string;
}

/** Reads the files and, where there are any, the variables that they may ask for. Throws what the disk and the database throw. */
export async function readCodeSnapshot(
  deps: Pick<Deps, 'config' | 'databases' | 'secrets'>,
  app: AppIdentity,
  cronMinSec: number,
): Promise<CodeSnapshot> {
  const read = await readFolder(hookFolder(deps.config, app));
  const files = read.flatMap(toVersion);
  const env = files.length === 0 ? {} : await openEnvironment(deps, app);
  const folderPrint = printOf(read);
  return {
    names: new Set(read.map(({ filename }) => filename)),
    ...{ files, env, folderPrint, cronMinSec },
    versions: await readVersions(deps, app, files),
    readFaults: read.flatMap(readFaults),
    fingerprint: hash([folderPrint, env, cronMinSec]),
  };
}

/** Tells apart what runners were given. */
export function runnerPrint(
  files: readonly SourceFile[],
  { env, cronMinSec }: Pick<CodeSnapshot, 'env' | 'cronMinSec'>,
): string {
  return hash([files, env, cronMinSec]);
}

/** The digest of a value's JSON. */
function hash(value: unknown): string {
  return digest(JSON.stringify(value));
}
