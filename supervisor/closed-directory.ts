// Finds directories that a user may not pass through.
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The first directory above one of the paths that the user may not pass through; undefined when there is none. */
export async function findClosedDirectory(
  { uid, gid }: { uid: number; gid: number },
  paths: readonly string[],
): Promise<string | undefined> {
  for (const path of paths) {
    for (const directory of ancestors(path)) {
      const found = await stat(directory);
      const bit = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001;
      if ((found.mode & bit) === 0) return directory;
    }
  }
  return undefined;
}

/** The directories above a path, root first. */
function ancestors(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [...ancestors(parent), parent];
}
