// What records need of files, which lie above them.
import type { RecordParts } from '../records/build.ts';
import { createFileLinks } from './link.ts';
import { createUnheldFiles } from './unheld.ts';

/** Puts it together. */
export function createRecordFiles(
  deps: Parameters<typeof createUnheldFiles>[0] & Parameters<typeof createFileLinks>[0],
): Pick<RecordParts, 'files' | 'links'> {
  return { files: createUnheldFiles(deps), links: createFileLinks(deps) };
}
