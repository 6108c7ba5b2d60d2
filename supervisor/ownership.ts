// Gives files of root to the user that the API runs as.
import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { systemErrorCode } from './errors.ts';
import type { Account } from './postgres/user.ts';
import { isReservedForApi } from './reserved-users.ts';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** Neither a link nor a device: those are nobody's hook files, and a pipe would be waited for. */
const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
/** A file that is gone meanwhile, a link, a socket. */
const passedOver = ['ENOENT', 'ELOOP', 'ENXIO', 'ENODEV', 'EMLINK'];

/**
 * Gives a folder or file to the account, with all that is in it; a folder comes after its content, so that an interrupted
 * run is continued by the next. Only what belongs to root is given, or to a user like the API's: what belongs to a person
 * stays theirs. No link is followed, not even one that is put there meanwhile. With `names`, which lead from the folder to
 * one inside, only that one and those on the way are given.
 */
export async function giveTo(account: Account, path: string, names: readonly string[] = []): Promise<void> {
  const handle = await open(path, flags).catch((error: unknown) => {
    if (passedOver.includes(systemErrorCode(error))) return undefined;
    throw error;
  });
  if (handle === undefined) return;
  try {
    const [name, ...more] = names;
    const inside = `/proc/self/fd/${handle.fd}`;
    const found = await handle.stat();
    if (name !== undefined) await giveTo(account, `${inside}/${name}`, more);
    else if (found.isDirectory()) {
      for (const entry of await readdir(inside)) await giveTo(account, `${inside}/${entry}`);
    }
    await give(account, handle, found);
  } finally {
    await handle.close();
  }
}

/** A file with another name elsewhere stays as it is: that name may be anything. */
async function give(
  { uid, gid }: Account,
  handle: FileHandle,
  found: { uid: number; nlink: number; isFile: () => boolean },
): Promise<void> {
  if (found.uid === uid || found.isFile() && found.nlink > 1) return;
  if (found.uid === 0 || isReservedForApi(found.uid)) await handle.chown(uid, gid);
}
