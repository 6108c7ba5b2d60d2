// Standard output, opened so that a slow reader never blocks a writer.
import { constants, fstatSync, openSync } from 'node:fs';

/**
 * Its descriptor. Node has writes to a terminal wait: while that is paused, they would hold one of the few threads that
 * files are read and hashes made with, and the end of the process up.
 */
export function openStandardOutput(): number {
  try {
    const kind = fstatSync(1);
    if (!kind.isFIFO() && !kind.isCharacterDevice()) return 1;
    return openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return 1; // there is no /proc, or it is another user's: then as it is
  }
}
