// What is on its way to a runner: frames of the same turn of the event loop leave in one write, and no more of them than the
// runner takes.
import type { Socket } from 'node:net';
import { encodeFrames } from './frames.ts';

/** So much is handed to the system before the runner has read it; the rest waits here. */
const mostUnsentBytes = 4_194_304;
/** In which a runner must take at least one of the writes that wait for it. */
const drainMilliseconds = 5_000;
/** So many wait for one another at most: a runner may begin with the first of many while the rest is still to come. */
const mostTogether = 8;
const mostBytesTogether = 65_536;

/** Who hears how a runner takes what it is sent. */
export interface FrameWriterOptions {
  /** The runner does not read what it is sent. */
  onStall: () => void;
  /** All that was handed over has been read. */
  onDrain: () => void;
}

/** Sends to one runner, for as long as that reads. */
export class FrameWriter {
  readonly #socket: Socket;
  readonly #onStall: () => void;
  #texts: string[] = [];
  #bytes = 0;
  #flush: NodeJS.Immediate | undefined;
  #draining: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #onTaken = () => void this.#draining?.refresh();

  constructor(socket: Socket, { onStall, onDrain }: FrameWriterOptions) {
    this.#socket = socket;
    this.#onStall = onStall;
    socket.on('drain', () => {
      clearTimeout(this.#draining);
      this.#draining = undefined;
      this.flush();
      onDrain();
    });
  }

  /** Whether what is sent now would have to wait for the runner to read. */
  get isFull(): boolean {
    return this.#socket.writableLength + this.#bytes > mostUnsentBytes;
  }

  /** Sends a message. */
  send(message: object): void {
    this.sendText(JSON.stringify(message));
  }

  /** As `send`, with the JSON of a message that is known already. */
  sendText(text: string): void {
    if (this.#isClosed) return;
    this.#bytes += text.length;
    // Each write may wake a process that sleeps, for more than all else that a call costs here.
    if (this.#texts.push(text) >= mostTogether || this.#bytes >= mostBytesTogether) this.#write();
    else this.#flush ??= setImmediate(() => this.#write());
  }

  /** Sends what waits, without waiting for more. */
  flush(): void {
    if (this.#texts.length > 0) this.#write();
  }

  /** Sends nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#texts = [];
    clearTimeout(this.#draining);
    clearImmediate(this.#flush);
  }

  #write(): void {
    clearImmediate(this.#flush);
    this.#flush = undefined;
    while (this.#texts.length > 0 && this.#socket.writableLength <= mostUnsentBytes) {
      if (this.#socket.write(encodeFrames(this.#next()), this.#onTaken)) continue;
      this.#draining ??= setTimeout(() => this.#onStall(), drainMilliseconds);
    }
  }

  /** What is handed over together: all there is, unless that is much. */
  #next(): string[] {
    const texts = this.#texts;
    let [count, bytes] = [texts.length, this.#bytes];
    if (bytes > mostUnsentBytes) {
      for (count = 0, bytes = 0; bytes <= mostUnsentBytes && count < texts.length; count++) {
        bytes += texts[count]?.length ?? 0;
      }
    }
    this.#texts = texts.slice(count);
    this.#bytes -= bytes;
    return count === texts.length ? texts : texts.slice(0, count);
  }
}
