// The channel to the API over descriptor 3. Frames in both directions are a u32 big-endian length and that many bytes of JSON.
import { openDescriptor } from './descriptor.ts';
import { parseWithDigits } from './exact-json.ts';
import type { FromRunner, ToRunner } from './protocol.ts';
import {
  decodeUtf8,
  encodeUtf8,
  encodeUtf8Into,
  enqueueMicrotask,
  parseJson,
  stringifyJson,
  withoutPrototype,
} from './untampered.ts';

const headerBytes = 4;
const bufferBytes = 64 * 1024;
/** The maximum number of UTF-8 bytes for one UTF-16 unit. */
const bytesPerUnit = 3;
const maxFrameBytes = 16 * 1024 * 1024;

/** The runner's end of the channel. */
export interface ApiChannel {
  /** Sends a frame, in one write with the others of this turn of the event loop. The channel may modify the frame. */
  send(frame: FromRunner): void;
  /** Sends a frame that is JSON already. */
  sendText(text: string): void;
  /** About how many bytes the system has not accepted yet. */
  readonly waiting: number;
}

/** Opens the channel. `onFrame` receives the API's frames in order; `onEnd` is called when the API closes the channel. */
export function openChannel(onFrame: (frame: ToRunner) => void, onEnd: () => void): ApiChannel {
  const descriptor = openDescriptor(
    frameReader((text) => {
      const frame = parseFrame(text);
      if (frame === undefined) onEnd();
      else onFrame(frame);
    }, onEnd),
    onEnd,
  );
  const write = frameWriter((bytes) => descriptor.write(bytes));
  let texts: string[] = withoutPrototype([]);
  let count = 0;
  let queued = 0;
  const flush = () => {
    const writing = texts;
    const length = count;
    texts = withoutPrototype([]);
    count = 0;
    queued = 0;
    write(writing, length);
  };
  const sendText = (text: string) => {
    if (count === 0) enqueueMicrotask(flush);
    texts[count++] = text;
    queued += text.length;
  };
  return {
    sendText,
    send: (frame) => sendText(stringifyJson(withoutPrototype(frame)) ?? ''),
    get waiting() {
      return descriptor.waiting + queued;
    },
  };
}

/** Parses a frame of the API, with all digits of its numbers where the API marked it by a space in front. Its shape is trusted: only the API checks what it receives. */
function parseFrame(text: string): ToRunner | undefined {
  try {
    return (text[0] === ' ' ? parseWithDigits(text) : parseJson(text)) as ToRunner;
  } catch {
    return undefined; // not JSON
  }
}

/**
 * Creates a function that writes frames with as few writes as possible. `write` returns true when the system has accepted
 * the bytes at once; otherwise it still owns them, and they are not modified any more.
 */
export function frameWriter(
  write: (bytes: Uint8Array) => boolean,
): (texts: readonly string[], count: number) => void {
  let buffer = new Uint8Array(bufferBytes);
  let used = 0;
  const flush = () => {
    if (used > 0 && !write(buffer.subarray(0, used))) buffer = new Uint8Array(bufferBytes);
    used = 0;
  };
  const writeLong = (text: string) => {
    const bytes = encodeUtf8(text);
    const header = new Uint8Array(headerBytes);
    writeLength(header, 0, bytes.length);
    write(header);
    write(bytes);
  };
  return (texts, count) => {
    for (let index = 0; index < count; index++) {
      const text = texts[index] ?? '';
      const maxBytes = headerBytes + text.length * bytesPerUnit;
      if (maxBytes > bufferBytes - used) flush();
      if (maxBytes > bufferBytes) {
        writeLong(text);
        continue;
      }
      const { written } = encodeUtf8Into(text, buffer.subarray(used + headerBytes));
      writeLength(buffer, used, written);
      used += headerBytes + written;
    }
    flush();
  };
}

function writeLength(bytes: Uint8Array, at: number, length: number): void {
  bytes[at] = length >>> 24;
  bytes[at + 1] = length >>> 16;
  bytes[at + 2] = length >>> 8;
  bytes[at + 3] = length;
}

/** Creates a function that takes bytes in any portions and calls `onText` for each frame. A frame that is too long ends it. */
export function frameReader(
  onText: (text: string) => void,
  onEnd: () => void,
): (bytes: Uint8Array<ArrayBuffer>) => void {
  const header = new Uint8Array(headerBytes);
  let headerFilled = 0;
  let body: Uint8Array<ArrayBuffer> | null = null;
  let filled = 0;
  return (bytes) => {
    let at = 0;
    while (at < bytes.length) {
      if (body === null) {
        while (headerFilled < headerBytes && at < bytes.length) header[headerFilled++] = bytes[at++] ?? 0;
        if (headerFilled < headerBytes) return;
        headerFilled = 0;
        const length = readLength(header);
        if (length > maxFrameBytes) return onEnd();
        if (at + length <= bytes.length) {
          onText(decodeUtf8(bytes.subarray(at, at + length)));
          at += length;
          continue;
        }
        body = new Uint8Array(length);
        filled = 0;
      }
      const taken = Math.min(body.length - filled, bytes.length - at);
      body.set(bytes.subarray(at, at + taken), filled);
      filled += taken;
      at += taken;
      if (filled < body.length) return;
      const text = decodeUtf8(body);
      body = null;
      onText(text);
    }
  };
}

function readLength(header: Uint8Array<ArrayBuffer>): number {
  return new DataView(header.buffer).getUint32(0);
}
