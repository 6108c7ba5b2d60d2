// Standard output of the supervisor, whose reader may stop reading: a pager, a paused terminal, a log driver that hangs.
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { codeOf } from './error-code.ts';

/** What waits for a reader; lines beyond it are lost. */
const mostBytes = 1_048_576;
const againMilliseconds = 20;
/** What a reader gets to take the last lines of a process that ends. */
const farewellMilliseconds = 500;

/** Writes to standard output without waiting for a reader; one that went away does no harm either. */
export function standardOutput(): (text: string) => void {
  const descriptor = ownDescriptor();
  let waiting: Buffer = Buffer.alloc(0);
  let later: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(later);
    try {
      while (waiting.length > 0) waiting = waiting.subarray(writeSync(descriptor, waiting));
    } catch (error) {
      if (codeOf(error) === 'EAGAIN') later = setTimeout(flush, againMilliseconds).unref();
      else if (['EPIPE', 'ENOSPC', 'EIO'].includes(codeOf(error))) waiting = Buffer.alloc(0);
      else throw error;
    }
  };
  process.once('exit', () => {
    const deadline = performance.now() + farewellMilliseconds;
    for (flush(); waiting.length > 0 && performance.now() < deadline; flush()) sleepNow(againMilliseconds);
  });
  return (text) => {
    if (waiting.length >= mostBytes) return;
    waiting = Buffer.concat([waiting, Buffer.from(text)]);
    flush();
  };
}

/**
 * A pipe or terminal is opened a second time where the system allows that: not to wait is a matter of how it was opened, and
 * whoever else has standard output goes on waiting as before. A supervisor that waited could neither stop nor start anything.
 */
function ownDescriptor(): number {
  try {
    const kind = fstatSync(1);
    if (!kind.isFIFO() && !kind.isCharacterDevice()) return 1;
    return openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return 1; // closed, or none of ours: then as it is
  }
}

function sleepNow(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
