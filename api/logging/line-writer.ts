// Writes log lines to a descriptor: collected for a few milliseconds, then written with one call.
import { write } from 'node:fs';

const collectMs = 5;
const initialBytes = 65_536;
const maxBytes = 4_194_304;
/** The most UTF-8 bytes that a UTF-16 code unit becomes. */
const maxBytesPerUnit = 3;

/**
 * Makes a writer that never waits. It copies each line into one of two buffers at once: a text that grows over milliseconds
 * would live long enough to cost the garbage collector more than the copy. Drops lines while more than 4 MiB wait for a slow
 * reader.
 */
export function lineWriter(descriptor: number): (line: string) => void {
  let filling: Buffer = Buffer.allocUnsafe(initialBytes);
  let spare: Buffer = Buffer.allocUnsafe(initialBytes);
  let filled = 0;
  let isBusy = false;
  const send = (bytes: Buffer, from: number, to: number) => {
    write(descriptor, bytes, from, to - from, null, (error, written) => {
      if (error?.code === 'EAGAIN') return void setTimeout(send, collectMs, bytes, from, to);
      // When the reader has gone, its lines are lost; the server goes on.
      if (error === null && from + written < to) return send(bytes, from + written, to);
      spare = bytes;
      schedule();
    });
  };
  const flush = () => {
    isBusy = filled > 0;
    if (!isBusy) return;
    const [bytes, to] = [filling, filled];
    filling = spare;
    filled = 0;
    send(bytes, 0, to);
  };
  const schedule = () => void setTimeout(flush, collectMs);
  return (line) => {
    const needed = filled + line.length * maxBytesPerUnit;
    if (needed > maxBytes) return;
    if (needed > filling.length) filling = enlarged(filling, { filled, needed });
    filled += filling.write(line, filled);
    if (isBusy) return;
    isBusy = true;
    schedule();
  };
}

function enlarged(buffer: Buffer, { filled, needed }: { filled: number; needed: number }): Buffer {
  const larger = Buffer.allocUnsafe(Math.max(needed, buffer.length * 2));
  buffer.copy(larger, 0, 0, filled);
  return larger;
}
