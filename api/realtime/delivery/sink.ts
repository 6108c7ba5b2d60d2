// The socket under a stream: bytes go straight to it, and what waits in it is bounded.
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Backlog, Outlet } from './backlog.ts';

/** When a reader counts as gone. */
export interface SinkBounds {
  /** Bytes that may wait in this process; the next write after that cuts the stream off. */
  waitingBytes: number;
  /** How long bytes may wait without any leaving, for each `waitingBytes` begun. */
  stallMs: number;
}

/** Writes to one socket without ever waiting for its reader. */
export class Sink implements Outlet {
  readonly workspace: string;
  readonly #socket: Duplex;
  readonly #bounds: SinkBounds;
  readonly #backlog: Backlog;
  #written = 0;
  /** Bytes that had left when they were last looked at, and when that changed. */
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

  /** Hands bytes over; false when too much is waiting, and then nothing was. The bytes may be shared, never changed. */
  write(pieces: readonly Buffer[]): boolean {
    const socket = this.#socket;
    if (socket.writableLength > this.#bounds.waitingBytes) return false;
    if (!socket.writable) return true;
    // Together in one call of the system.
    if (pieces.length > 1) socket.cork();
    for (const bytes of pieces) {
      this.#written += bytes.length;
      socket.write(bytes);
    }
    if (pieces.length > 1) socket.uncork();
    if (socket.writableLength > 0) { for (const bytes of pieces) this.#backlog.add(this, bytes); }
    return true;
  }

  /** Whether it is better to wait for `whenDrained` before writing more. */
  get isFull(): boolean {
    return this.#socket.writableNeedDrain;
  }

  /** Calls back once when everything has left, however often it was asked to; never, when the socket closes before. */
  whenDrained(callback: () => void): void {
    this.#whenDrained.add(callback);
  }

  /** Whether nothing has left for too long although something waits. To be asked about once a second. */
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
   * Closes the connection at once; what waits is lost. The system would keep what it has taken, up to four megabytes for a
   * reader who takes none of it, for minutes after, and of that all connections of the machine have two gigabytes or so.
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

/** Not with TLS, nor in the moment in which the other side is being told that nothing more comes. */
function canReset(socket: Socket): boolean {
  const { writableEnded, writableFinished, writableLength } = socket;
  const isBeingEnded = writableEnded && !writableFinished && writableLength === 0;
  return socket.remoteFamily !== undefined && !('encrypted' in socket) && !isBeingEnded;
}
