// Whether a runner that was too slow still comes back from its code.
import { ProtocolError } from './frames.ts';

/** An idle runner answers in one: after so long it is taken for stuck. */
const doubtMilliseconds = 25;
const pongMilliseconds = 250;

/** Asks one runner, one question at a time. */
export class Ping {
  readonly #send: (id: number) => void;
  readonly #onStuck: () => void;
  #out: { id: number; timers: NodeJS.Timeout[]; answered: PromiseWithResolvers<boolean> } | undefined;

  constructor({ send, onStuck }: { send: (id: number) => void; onStuck: () => void }) {
    this.#send = send;
    this.#onStuck = onStuck;
  }

  /** Undefined unless one is out: then, soon, whether the runner comes back. */
  get doubt(): Promise<boolean> | undefined {
    return this.#out?.answered.promise;
  }

  /** Asks, unless one is out. */
  ask(newId: () => number): void {
    if (this.#out !== undefined) return;
    const answered = Promise.withResolvers<boolean>();
    const timers = [
      setTimeout(() => answered.resolve(false), doubtMilliseconds),
      setTimeout(this.#onStuck, pongMilliseconds),
    ];
    const id = newId();
    this.#out = { id, timers, answered };
    this.#send(id);
  }

  /** It came back. Throws `ProtocolError` when it was not asked. */
  heard(id: number): void {
    if (this.#out?.id !== id) throw new ProtocolError('a pong that nobody asked for');
    this.#settle(true);
  }

  /** Nobody will answer any more. */
  end(): void {
    this.#settle(false);
  }

  #settle(isAlive: boolean): void {
    this.#out?.answered.resolve(isAlive);
    this.#out?.timers.forEach(clearTimeout);
    this.#out = undefined;
  }
}
