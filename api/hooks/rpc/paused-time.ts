// For how long a runner was stopped or held back because its workspace had spent its CPU time. Its time limits stand still meanwhile.

/** A pause that lasts longer than this is no excuse: a runner that is only held back has had some time. Milliseconds. */
const maxExcusedMs = 30_000;

/** The pauses of one runner. Times in milliseconds of `performance.now()`. */
export class PausedTime {
  #total = 0;
  #since: number | undefined;
  #lastEnd = -Infinity;

  /** Notes that the runner was stopped or held back, or goes on. */
  set(isPaused: boolean, now: number): void {
    if (isPaused) this.#since ??= now;
    else if (this.#since !== undefined) {
      this.#total += now - this.#since;
      this.#since = undefined;
      this.#lastEnd = now;
    }
  }

  /** All pauses until now, together. */
  total(now: number): number {
    return this.#total + (this.#since === undefined ? 0 : now - this.#since);
  }

  /** True when the runner could not do all that it might have done since then. */
  wasPausedSince(time: number): boolean {
    return this.#since === undefined ? this.#lastEnd > time : time - this.#since < maxExcusedMs;
  }
}
