// Makes the names in a folder durable, so that they are there after a power cut.
import { open } from 'node:fs/promises';

/** Has the disk take what was made, renamed or removed in a folder. */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path);
  await folder.sync();
}
