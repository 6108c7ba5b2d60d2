// How busy this process is with requests, so that work which can wait makes way for them.
import { setTimeout as pause } from 'node:timers/promises';

/** Longer than most requests take, and short enough for uploads to get on beside requests that never end. */
const maxLullWaitMs = 10;
const windowMs = 100;
/** From so many requests in a window on, more are expected. */
const heavyTraffic = 5;
/** Pause between two steps of work that can wait, while more requests are expected: they find a processor that is free. */
const pauseMs = 1;

/** Counts the requests that others should make way for, from their start to their end. */
export class Traffic {
  /** Milliseconds since 1970. */
  readonly #now: () => number;
  #underWay = 0;
  #latestStart = 0;
  #windowStart = 0;
  #inWindow = 0;
  /** True when the window before had many. */
  #wasHeavy = false;
  #lull: Promise<void> | undefined;
  #endLull: () => void = () => undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts a request that starts at this time, in milliseconds since 1970. */
  started(at: number): void {
    this.#underWay++;
    this.#latestStart = at;
    const elapsed = at - this.#windowStart;
    if (elapsed >= windowMs) {
      this.#wasHeavy = this.#inWindow >= heavyTraffic && elapsed < 2 * windowMs;
      this.#windowStart = at;
      this.#inWindow = 0;
    }
    this.#inWindow++;
  }

  /** Counts the end of a request. */
  ended(): void {
    this.#underWay--;
    if (this.#underWay === 0) this.#endLull();
  }

  /** True while so many requests come that more are to be expected. */
  isHeavy(): boolean {
    return this.#wasHeavy && this.#now() - this.#latestStart < windowMs;
  }

  /**
   * Resolves when no request is under way, at the latest 10 ms after the newest started: a request that takes long is not
   * waited for. In heavy traffic, resolves after a pause of a millisecond even when none is. Undefined when there is nothing
   * to wait for.
   */
  lull(): Promise<void> | undefined {
    const left = maxLullWaitMs - (this.#now() - this.#latestStart);
    if (this.#underWay === 0 || left <= 0) return this.isHeavy() ? pause(pauseMs) : undefined;
    this.#lull ??= new Promise((resolve) => {
      const timer = setTimeout(() => this.#endLull(), Math.min(left, maxLullWaitMs));
      this.#endLull = () => {
        clearTimeout(timer);
        this.#lull = undefined;
        this.#endLull = () => undefined;
        // The last response is still on its way out.
        setImmediate(resolve);
      };
    });
    return this.#lull;
  }
}
