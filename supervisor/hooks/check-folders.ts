// Where the files of type checks lie: in the system's temporary directory, which the user of a check may pass.
import { createHash } from 'node:crypto';
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunnerPlan } from './runner-command.ts';

/** Makes one, which only this process and root may enter; the name says whose server it is of. */
export async function makeCheckFolder(dataDir: string): Promise<string> {
  return await mkdtemp(join(tmpdir(), prefixOf(dataDir)));
}

/**
 * Removes those that a server of this data directory left when it was killed. To be called while nobody checks: they are
 * told by their names, and by their owners, as anybody may make folders there.
 */
export async function removeLeftChecks(dataDir: string, users: RunnerPlan['users']): Promise<void> {
  const names = await readdir(tmpdir()).catch((): string[] => []); // it need not be there
  for (const name of names.filter((name) => name.startsWith(prefixOf(dataDir)))) {
    const path = join(tmpdir(), name);
    const uid = await lstat(path).then((found) => found.uid, () => undefined); // gone meanwhile
    if (uid === undefined) continue;
    const isSlot = users !== undefined && uid >= users.first && uid < users.first + users.count;
    if (isSlot || uid === process.getuid?.()) await rm(path, { recursive: true, force: true });
  }
}

function prefixOf(dataDir: string): string {
  return `bulkhead-check-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}-`;
}
