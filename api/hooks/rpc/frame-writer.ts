// Writes frames to a runner: those of one turn of the event loop leave in one write, and no more of them than the
// runner takes.
import type { Socket } from 'node:net';
import { encodeFrames } from './frames.ts';
import type { PausedTime } from './paused-time.ts';

/** So much is handed to the system before the runner has read it; the rest waits here. */
const maxUnsentBytes = 4_194_304;
/** In which a runner must take at least one of the writes that wait for it. */
const drainTimeoutMs = 5_000;
/** So many wait for one another at most: a runner may begin with the first of many while the rest is still to come. */
const maxBatchFrames = 8;
const maxBatchBytes = 65_536;

/** The listener for how a runner takes the frames that it is sent. */
export interface FrameWriterOptions {
  /** The runner does not read what it is sent. */
  onStall: () => void;
  /** All that was handed over has been read. */
  onDrain: () => void;
  paused: PausedTime;
}

/** Sends to one runner, for as long as that reads. */
export class FrameWriter {
  readonly #socket: Socket;
  readonly #onStall: () => void;
  readonly #paused: PausedTime;
  #texts: string[] = [];
  #bytes = 0;
  #flush: NodeJS.Immediate | undefined;
  #drainTimer: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #onTaken = () => void this.#drainTimer?.refresh();

  constructor(socket: Socket, { onStall, onDrain, paused }: FrameWriterOptions) {
    this.#socket = socket;
    this.#onStall = onStall;
    this.#paused = paused;
    socket.on('drain', () => {
      clearTimeout(this.#drainTimer);
      this.#drainTimer = undefined;
      this.flush();
      onDrain();
    });
  }

  /** True when a frame sent now would wait for the runner to read. */
  get isFull(): boolean {
    return this.#socket.writableLength + this.#bytes > maxUnsentBytes;
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
    if (this.#texts.push(text) >= maxBatchFrames || this.#bytes >= maxBatchBytes) this.#write();
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
    clearTimeout(this.#drainTimer);
    clearImmediate(this.#flush);
  }

  #write(): void {
    clearImmediate(this.#flush);
    this.#flush = undefined;
    while (this.#texts.length > 0 && this.#socket.writableLength <= maxUnsentBytes) {
      if (this.#socket.write(encodeFrames(this.#takeBatch()), this.#onTaken)) continue;
      this.#drainTimer ??= setTimeout(() => this.#checkStall(), drainTimeoutMs);
    }
  }

  /** A runner that was paused meanwhile has the time once more. */
  #checkStall(): void {
    if (this.#paused.wasPausedSince(performance.now() - drainTimeoutMs)) this.#drainTimer?.refresh();
    else this.#onStall();
  }

  /** The frames that are written together: all there are, unless they are large. */
  #takeBatch(): string[] {
    const texts = this.#texts;
    let [count, bytes] = [texts.length, this.#bytes];
    if (bytes > maxUnsentBytes) {
      for (count = 0, bytes = 0; bytes <= maxUnsentBytes && count < texts.length; count++) {
        bytes += texts[count]?.length ?? 0;
      }
    }
    this.#texts = texts.slice(count);
    this.#bytes -= bytes;
    return count === texts.length ? texts : texts.slice(0, count);
  }
}
