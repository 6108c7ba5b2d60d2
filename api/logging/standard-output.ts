// Standard output, opened so that a slow reader never blocks a writer.
import { constants, fstatSync, openSync } from 'node:fs';

/**
 * Opens standard output and returns its descriptor. With descriptor 1, writes to a paused terminal would block one of the few
 * threads that read files and make hashes, and delay the end of the process.
 */
export function openOutputDescriptor(): number {
  try {
    const kind = fstatSync(1);
    if (!kind.isFIFO() && !kind.isCharacterDevice()) return 1;
    return openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return 1; // there is no /proc, or it belongs to another user
  }
}
