// Standard output of the supervisor, whose reader may stop reading: a pager, a paused terminal, a log driver that hangs.
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { systemErrorCode } from './errors.ts';

/** What waits for a reader; lines beyond it are lost. */
const maxBufferedBytes = 1_048_576;
const retryMs = 20;
/** What a reader gets to take the last lines of a process that ends. */
const exitFlushMs = 500;

/** Writes to standard output without waiting for a reader; one that went away does no harm either. */
export function openStandardOutput(): (text: string) => void {
  const descriptor = ownDescriptor();
  let waiting: Buffer[] = [];
  let bytes = 0;
  let later: NodeJS.Timeout | undefined;
  const flush = () => {
    later = undefined;
    try {
      for (let [next] = waiting; next !== undefined; [next] = waiting) {
        const written = writeSync(descriptor, next);
        bytes -= written;
        if (written < next.length) waiting[0] = next.subarray(written);
        else waiting.shift();
      }
    } catch (error) {
      if (systemErrorCode(error) === 'EAGAIN') later = setTimeout(flush, retryMs).unref();
      else if (['EPIPE', 'ENOSPC', 'EIO'].includes(systemErrorCode(error))) [waiting, bytes] = [[], 0];
      else throw error;
    }
  };
  process.once('exit', () => {
    const deadline = performance.now() + exitFlushMs;
    for (flush(); bytes > 0 && performance.now() < deadline; flush()) sleepNow(retryMs);
  });
  return (text) => {
    if (bytes >= maxBufferedBytes) return;
    const line = Buffer.from(text);
    waiting.push(line);
    bytes += line.length;
    if (later === undefined) flush();
  };
}

/**
 * A pipe or terminal is opened a second time where the system allows that: not to wait is a matter of how it was opened, and
 * Node has writes to a terminal wait. A socket is made so for all who have it. A supervisor that waited could neither stop
 * nor start anything.
 */
function ownDescriptor(): number {
  const kind = fstatSync(1);
  try {
    if (kind.isFIFO() || kind.isCharacterDevice()) {
      return openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    }
  } catch {
    // There is no /proc, or it is another user's: then as it is.
  }
  if (kind.isFIFO() || kind.isSocket()) new Socket({ fd: 1, readable: false });
  return 1;
}

function sleepNow(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
