// A snapshot of an app's hook files, taken before any of them runs.
import { createHash } from 'node:crypto';
import type { LoadFrame } from '../../../hook-runner/protocol.ts';
import type { AppIdentity } from '../../../storage/definition.ts';
import type { Deps } from '../../deps.ts';
import { openEnvironment } from '../environment.ts';
import { readFaults } from './faults.ts';
import { hookFolder, readFolder, toSourceFile } from './folder.ts';
import type { FileFault } from '../ports.ts';

/** The code to load. */
export interface CodeSnapshot extends Pick<LoadFrame, 'files' | 'env'> {
  /** Faults of files that cannot be read. */
  readFaults: FileFault[];
  /** Tells states of the code apart, and of the policy that its jobs go by. */
  fingerprint: string;
}

/** Reads the files and, where there are any, the variables that they may ask for. Throws what the disk and the database throw. */
export async function readCodeSnapshot(
  deps: Pick<Deps, 'config' | 'databases' | 'secrets'>,
  app: AppIdentity,
  cronMinSec: number,
): Promise<CodeSnapshot> {
  const read = await readFolder(hookFolder(deps.config, app));
  const files = read.flatMap(toSourceFile);
  const unread = read.flatMap(readFaults);
  const env = files.length === 0 ? {} : await openEnvironment(deps, app);
  const fingerprint = createHash('sha256').update(JSON.stringify([files, unread, env, cronMinSec]))
    .digest('hex');
  return { files, env, readFaults: unread, fingerprint };
}
