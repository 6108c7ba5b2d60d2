// Whether a runner that was too slow still comes back from its code.
import { ProtocolError } from './frames.ts';

/** An idle runner answers in one: after so long it is taken for stuck. */
const responsiveMs = 25;
const pongTimeoutMs = 250;

/** Asks one runner, one question at a time. */
export class Ping {
  readonly #send: (id: number) => void;
  readonly #onStuck: () => void;
  #pending: { id: number; timers: NodeJS.Timeout[]; answered: PromiseWithResolvers<boolean> } | undefined;

  constructor({ send, onStuck }: { send: (id: number) => void; onStuck: () => void }) {
    this.#send = send;
    this.#onStuck = onStuck;
  }

  /** Undefined unless one is out: then, soon, whether the runner comes back. */
  get responsiveness(): Promise<boolean> | undefined {
    return this.#pending?.answered.promise;
  }

  /** Asks, unless one is out. */
  start(newId: () => number): void {
    if (this.#pending !== undefined) return;
    const answered = Promise.withResolvers<boolean>();
    const timers = [
      setTimeout(() => answered.resolve(false), responsiveMs),
      setTimeout(this.#onStuck, pongTimeoutMs),
    ];
    const id = newId();
    this.#pending = { id, timers, answered };
    this.#send(id);
  }

  /** It came back. Throws `ProtocolError` when it was not asked. */
  receivePong(id: number): void {
    if (this.#pending?.id !== id) throw new ProtocolError('a pong that nobody asked for');
    this.#settle(true);
  }

  /** Nobody will answer any more. */
  end(): void {
    this.#settle(false);
  }

  #settle(isAlive: boolean): void {
    this.#pending?.answered.resolve(isAlive);
    this.#pending?.timers.forEach(clearTimeout);
    this.#pending = undefined;
  }
}
