// Makes the names in a folder durable, so that a power cut does not lose them.
import { open } from 'node:fs/promises';

/** Writes what was made, renamed or removed in a folder to the disk. */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path);
  await folder.sync();
}
