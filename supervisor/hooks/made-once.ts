// Folders that are made once and named for what they are made of, so that a new release has new ones and a half-made one
// is never taken for one.
import { createHash } from 'node:crypto';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemErrorCode } from '../errors.ts';

/** As `nameFor` makes them, and drafts of those. */
const ownName = /^[0-9a-f]{16}(\.\d+)?$/;

/** A name for what is made of these files, and in this way. */
export async function contentName(files: readonly string[], how = ''): Promise<string> {
  const hash = createHash('sha256').update(how);
  for (const path of files) {
    const { size, mtimeMs } = await stat(path);
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

/** Has a folder made aside, unless it is there, and gives it its name; another server may have made it meanwhile. */
export async function makeOnce(home: string, make: (draft: string) => Promise<void>): Promise<void> {
  if (await exists(home)) return;
  const draft = `${home}.${process.pid}`;
  try {
    await make(draft);
    await rename(draft, home).catch(async (error: unknown) => {
      if (!await exists(home)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * Removes what earlier releases left beside a folder, with the same prefix, where all is this server's own; but leaves what
 * is another user's, such as root's, who ran this server once.
 */
export async function removeOlder(home: string, prefix = ''): Promise<void> {
  for (const name of await readdir(dirname(home))) {
    const path = join(dirname(home), name);
    if (path === home || !name.startsWith(prefix) || !ownName.test(name.slice(prefix.length))) continue;
    await rm(path, { recursive: true }).catch((error: unknown) => {
      if (!['EACCES', 'EPERM'].includes(systemErrorCode(error))) throw error;
    });
  }
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(() => true, () => false);
}
