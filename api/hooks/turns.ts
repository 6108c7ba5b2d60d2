// How many calls an app's hooks have at once, and how many may wait.
import { fail } from '../errors.ts';

const mostAtOnce = 32;
const mostWaiting = 128;

/** The turns of one app. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  /** Takes a turn at once, or a promise of one. Throws `503 hook_busy` when too many wait. */
  take(): void | Promise<void> {
    if (this.#taken < mostAtOnce) {
      this.#taken++;
      return;
    }
    if (this.#waiting.length >= mostWaiting) {
      fail('hook_busy', 'too many hook calls of this app are waiting; try again', [['Retry-After', '1']]);
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Gives a turn to whoever waits longest. */
  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken--;
    else next();
  }
}
