// Which requests somebody waits for just now, so that what can wait lets them pass.
import { setTimeout as pause } from 'node:timers/promises';

/** Longer than most requests take, and short enough for uploads to get on beside a crowd that never ends. */
const patienceMilliseconds = 10;
const windowMilliseconds = 100;
/** Requests in a window from which on the next ones are expected, too. */
const manyInWindow = 5;
/** What can wait rests for so long between two steps while requests keep coming: each finds a processor that is free. */
const restMilliseconds = 1;

/** Counts requests from their arrival to their answer. */
export class Traffic {
  /** Milliseconds since 1970. */
  readonly #now: () => number;
  #answering = 0;
  #latest = 0;
  /** Since when they are counted. */
  #windowBegan = 0;
  #inWindow = 0;
  /** Whether there were many in the window before. */
  #keepComing = false;
  #lull: Promise<void> | undefined;
  #endLull: () => void = () => undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A request came, at this time in milliseconds since 1970. */
  arrived(at: number): void {
    this.#answering++;
    this.#latest = at;
    const elapsed = at - this.#windowBegan;
    if (elapsed >= windowMilliseconds) {
      this.#keepComing = this.#inWindow >= manyInWindow && elapsed < 2 * windowMilliseconds;
      this.#windowBegan = at;
      this.#inWindow = 0;
    }
    this.#inWindow++;
  }

  /** One of them is answered. */
  answered(): void {
    this.#answering--;
    if (this.#answering === 0) this.#endLull();
  }

  /**
   * Resolves when every request is answered, at the latest 10 ms after the newest came: one that takes long anyway holds
   * nobody up. When all are, but more are to be expected, after a millisecond's rest. Undefined when there is nothing to
   * wait for.
   */
  lull(): Promise<void> | undefined {
    const age = this.#now() - this.#latest;
    const left = patienceMilliseconds - age;
    if (this.#answering === 0 || left <= 0) {
      return this.#keepComing && age < windowMilliseconds ? pause(restMilliseconds) : undefined;
    }
    this.#lull ??= new Promise((resolve) => {
      const timer = setTimeout(() => this.#endLull(), Math.min(left, patienceMilliseconds));
      this.#endLull = () => {
        clearTimeout(timer);
        this.#lull = undefined;
        this.#endLull = () => undefined;
        // The answer itself is still on its way out.
        setImmediate(resolve);
      };
    });
    return this.#lull;
  }
}
