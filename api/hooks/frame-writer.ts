// What is on its way to a runner: frames of the same turn of the event loop leave in one write.
import type { Socket } from 'node:net';
import { encodeFrames } from './frames.ts';

const mostUnsentBytes = 4_194_304;
const drainMilliseconds = 5_000;
/** So many wait for one another at most: a runner may begin with the first of many while the rest is still to come. */
const mostTogether = 8;
const mostBytesTogether = 65_536;

/** Sends to one runner, for as long as that reads. */
export class FrameWriter {
  readonly #socket: Socket;
  readonly #onStall: () => void;
  #texts: string[] = [];
  #bytes = 0;
  #flush: NodeJS.Immediate | undefined;
  #draining: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `onStall`: the runner does not read what it is sent. */
  constructor(socket: Socket, onStall: () => void) {
    this.#socket = socket;
    this.#onStall = onStall;
    socket.on('drain', () => {
      clearTimeout(this.#draining);
      this.#draining = undefined;
    });
  }

  /** Sends a message. */
  send(message: object): void {
    if (this.#isClosed) return;
    if (this.#socket.writableLength + this.#bytes > mostUnsentBytes) return this.#onStall();
    const text = JSON.stringify(message);
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
    const texts = this.#texts;
    clearImmediate(this.#flush);
    this.#flush = undefined;
    this.#texts = [];
    this.#bytes = 0;
    if (this.#socket.write(encodeFrames(texts))) return;
    this.#draining ??= setTimeout(() => this.#onStall(), drainMilliseconds);
  }
}
