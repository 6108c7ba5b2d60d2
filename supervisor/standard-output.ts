// Non-blocking standard output, as its reader may stop reading: a pager, a paused terminal, a log driver that hangs.
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { systemErrorCode } from './errors.ts';

/** The limit of buffered bytes; further lines are dropped. */
const maxBufferedBytes = 1_048_576;
const retryMs = 20;
/** The time in which a reader can take the last lines when the process exits. */
const exitFlushMs = 500;

/** Standard output, opened so that writes do not block. */
export interface StandardOutput {
  /** Writes a text. Does not fail when the reader has gone. */
  write: (text: string) => void;
  /** The descriptor, for processes of users who may not open it. */
  descriptor: number;
}

/** Opens standard output. */
export function openStandardOutput(): StandardOutput {
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
  const write = (text: string) => {
    if (bytes >= maxBufferedBytes) return;
    const line = Buffer.from(text);
    waiting.push(line);
    bytes += line.length;
    if (later === undefined) flush();
  };
  return { write, descriptor };
}

/**
 * A non-blocking descriptor of standard output. A pipe or terminal is opened a second time where the system allows it, as
 * O_NONBLOCK belongs to the open file, which other processes share. For a socket, Node sets it. A supervisor that blocks on a
 * write could neither stop nor start anything.
 */
function ownDescriptor(): number {
  const kind = fstatSync(1);
  try {
    if (kind.isFIFO() || kind.isCharacterDevice()) {
      return openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    }
  } catch {
    // There is no /proc, or the file is another user's: the descriptor stays as it is.
  }
  if (kind.isFIFO() || kind.isSocket()) new Socket({ fd: 1, readable: false });
  return 1;
}

function sleepNow(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
