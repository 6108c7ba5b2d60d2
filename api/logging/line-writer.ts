// Lines on their way to a descriptor: gathered for a few milliseconds, then written with one call.
import { write } from 'node:fs';

const gatherMilliseconds = 5;
const usualBytes = 65_536;
const maximalBytes = 4_194_304;
/** UTF-8 bytes that a UTF-16 code unit can become. */
const bytesAUnit = 3;

/**
 * Writes lines without waiting for them. They are copied into one of two buffers at once, because a text that is put
 * together over milliseconds lives long enough to cost the garbage collector more than the copy. Lines that no reader
 * takes are dropped beyond 4 MiB.
 */
export function lineWriter(descriptor: number): (line: string) => void {
  let filling: Buffer = Buffer.allocUnsafe(usualBytes);
  let resting: Buffer = Buffer.allocUnsafe(usualBytes);
  let filled = 0;
  let busy = false;
  const send = (bytes: Buffer, from: number, to: number) => {
    write(descriptor, bytes, from, to - from, null, (error, written) => {
      if (error?.code === 'EAGAIN') return void setTimeout(send, gatherMilliseconds, bytes, from, to);
      // A reader that went away must not take the server with it: those lines are lost, nothing else.
      if (error === null && from + written < to) return send(bytes, from + written, to);
      resting = bytes;
      schedule();
    });
  };
  const flush = () => {
    busy = filled > 0;
    if (!busy) return;
    const [bytes, to] = [filling, filled];
    filling = resting;
    filled = 0;
    send(bytes, 0, to);
  };
  const schedule = () => void setTimeout(flush, gatherMilliseconds);
  return (line) => {
    const room = filled + line.length * bytesAUnit;
    if (room > maximalBytes) return;
    if (room > filling.length) filling = grown(filling, { filled, room });
    filled += filling.write(line, filled);
    if (busy) return;
    busy = true;
    schedule();
  };
}

function grown(buffer: Buffer, { filled, room }: { filled: number; room: number }): Buffer {
  const larger = Buffer.allocUnsafe(Math.max(room, buffer.length * 2));
  buffer.copy(larger, 0, 0, filled);
  return larger;
}
