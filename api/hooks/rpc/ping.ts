// Pings a runner that was too slow, to learn if it still comes back from its code.
import { ProtocolError } from './frames.ts';
import type { PausedTime } from './paused-time.ts';

/** An idle runner responds within one: after so long it counts as stuck. */
const responsiveMs = 25;
const pongTimeoutMs = 250;

/** Asks one runner, one question at a time. */
export class Ping {
  readonly #send: (id: number) => void;
  readonly #onStuck: () => void;
  readonly #paused: PausedTime;
  #pending: { id: number; timers: NodeJS.Timeout[]; responded: PromiseWithResolvers<boolean> } | undefined;

  constructor(
    { send, onStuck, paused }: { send: (id: number) => void; onStuck: () => void; paused: PausedTime },
  ) {
    this.#send = send;
    this.#onStuck = onStuck;
    this.#paused = paused;
  }

  /** Undefined unless one is out: then, soon, whether the runner comes back. */
  get responsiveness(): Promise<boolean> | undefined {
    return this.#pending?.responded.promise;
  }

  /** Asks, unless one is out. */
  start(newId: () => number): void {
    if (this.#pending !== undefined) return;
    const responded = Promise.withResolvers<boolean>();
    const timers = [
      setTimeout(() => responded.resolve(false), responsiveMs),
      setTimeout(() => this.#checkStuck(performance.now()), pongTimeoutMs),
    ];
    const id = newId();
    this.#pending = { id, timers, responded };
    this.#send(id);
  }

  /** A runner that was paused meanwhile has the time once more. */
  #checkStuck(checkedAt: number): void {
    const pending = this.#pending;
    if (pending === undefined) return;
    if (!this.#paused.wasPausedSince(checkedAt - pongTimeoutMs)) return this.#onStuck();
    pending.timers.push(setTimeout(() => this.#checkStuck(performance.now()), pongTimeoutMs));
  }

  /** It came back. Throws `ProtocolError` when it was not asked. */
  receivePong(id: number): void {
    if (this.#pending?.id !== id) throw new ProtocolError('a pong that nobody asked for');
    this.#settle(true);
  }

  /** The runner is gone: no response will come. */
  end(): void {
    this.#settle(false);
  }

  #settle(isAlive: boolean): void {
    this.#pending?.responded.resolve(isAlive);
    this.#pending?.timers.forEach(clearTimeout);
    this.#pending = undefined;
  }
}
