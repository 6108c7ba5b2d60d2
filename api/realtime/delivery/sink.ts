// Writes to the socket of a stream, with a limit on the bytes that wait in it.
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Backlog, Outlet } from './backlog.ts';

/** The limits above which a reader is cut off. */
export interface SinkBounds {
  /** Bytes that may wait in this process. Above it, the next write cuts the stream off. */
  waitingBytes: number;
  /** The time in which none of the waiting bytes may be sent, in milliseconds, for each `waitingBytes` of them. */
  stallMs: number;
}

/** Writes to one socket without waiting for its reader. */
export class Sink implements Outlet {
  readonly workspace: string;
  readonly #socket: Duplex;
  readonly #bounds: SinkBounds;
  readonly #backlog: Backlog;
  #written = 0;
  /** Bytes that had been sent at the last check, and the time at which that last changed. */
  #left = 0;
  #changedAt: number | undefined;
  readonly #whenDrained = new Set<() => void>();

  constructor(
    socket: Duplex,
    { workspace, bounds, backlog }: { workspace: string; bounds: SinkBounds; backlog: Backlog },
  ) {
    this.#socket = socket;
    this.workspace = workspace;
    this.#bounds = bounds;
    this.#backlog = backlog;
    // One listener, however many subscriptions wait.
    socket.on('drain', () => this.#drained());
    socket.once('close', () => backlog.settle(this, Infinity));
  }

  get written(): number {
    return this.#written;
  }

  get sent(): number {
    return this.#written - this.#socket.writableLength;
  }

  /** Writes buffers, which must not change afterwards. False when too much waits; then nothing was written. */
  write(pieces: readonly Buffer[]): boolean {
    const socket = this.#socket;
    if (socket.writableLength > this.#bounds.waitingBytes) return false;
    if (!socket.writable) return true;
    // All of them in one system call.
    if (pieces.length > 1) socket.cork();
    for (const bytes of pieces) {
      this.#written += bytes.length;
      socket.write(bytes);
    }
    if (pieces.length > 1) socket.uncork();
    if (socket.writableLength > 0) { for (const bytes of pieces) this.#backlog.add(this, bytes); }
    return true;
  }

  /** True when the caller should wait for `whenDrained` before it writes more. */
  get isFull(): boolean {
    return this.#socket.writableNeedDrain;
  }

  /** Calls back once when everything has been sent, even if added twice. Not called when the socket closes before. */
  whenDrained(callback: () => void): void {
    this.#whenDrained.add(callback);
  }

  /** True when bytes wait and none was sent for too long. Called about once a second. */
  isStalled(now: number): boolean {
    const waiting = this.#socket.writableLength;
    const left = this.sent;
    this.#backlog.settle(this);
    if (left !== this.#left || this.#changedAt === undefined) {
      this.#left = left;
      this.#changedAt = waiting === 0 ? undefined : now;
      return false;
    }
    const { stallMs, waitingBytes } = this.#bounds;
    return now - this.#changedAt >= stallMs * Math.max(1, waiting / waitingBytes);
  }

  /**
   * Resets the connection and discards what waits. After a plain close the kernel would keep up to four megabytes for a
   * reader that does not read, for minutes, of the two gigabytes or so that all connections of the machine share.
   */
  cut(): void {
    const socket = this.#socket;
    if (socket instanceof Socket && canReset(socket)) socket.resetAndDestroy();
    else socket.destroy();
  }

  #drained(): void {
    this.#backlog.settle(this);
    const callbacks = [...this.#whenDrained];
    this.#whenDrained.clear();
    for (const callback of callbacks) callback();
  }
}

/** True for a plain TCP socket that is not just sending its end of stream; such a socket can be reset. */
function canReset(socket: Socket): boolean {
  const { writableEnded, writableFinished, writableLength } = socket;
  const isBeingEnded = writableEnded && !writableFinished && writableLength === 0;
  return socket.remoteFamily !== undefined && !('encrypted' in socket) && !isBeingEnded;
}
