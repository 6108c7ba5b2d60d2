// The CPU time that the hooks of one workspace may take while others need the processor.

/** The share of a workspace. */
export interface CpuShare {
  /** Cores that it has at any time. */
  cores: number;
  /** Milliseconds of CPU time that it may save up. */
  burstMs: number;
}

/** Debt is paid back for so long at most, so that a runner which was stopped goes on. Milliseconds. */
const maxDebtMs = 4_000;

/** What one workspace has left: it earns its share of every moment, and what it takes is taken off. */
export class CpuBudget {
  #share: CpuShare;
  #left: number;

  constructor(share: CpuShare) {
    this.#share = share;
    this.#left = share.burstMs;
  }

  /** Another share, as policies have changed. */
  set share(share: CpuShare) {
    this.#share = share;
    this.#left = Math.min(this.#left, share.burstMs);
  }

  /** Cores that it has at any time. */
  get cores(): number {
    return this.#share.cores;
  }

  /** True while it may take more. */
  get hasTime(): boolean {
    return this.#left > 0;
  }

  /** True when it has saved up all that it may. */
  get isFull(): boolean {
    return this.#left >= this.#share.burstMs;
  }

  /** The part of its share that each of `runners` had in so many milliseconds, if they had shared it equally. */
  equalPart(elapsedMs: number, runners: number): number {
    return this.#share.cores * elapsedMs / runners;
  }

  /**
   * Accounts for a stretch of time, all in milliseconds. `spare` is CPU time that nobody took, and that the workspace may
   * have besides its share. Where nobody else needs the processor (`isAlone`), nothing is owed.
   */
  account(
    { elapsedMs, used, spare, isAlone }: { elapsedMs: number; used: number; spare: number; isAlone: boolean },
  ): void {
    const { cores, burstMs } = this.#share;
    const left = Math.min(burstMs, this.#left + cores * elapsedMs + spare - used);
    // With an empty purse and a share of its own, it may always go on.
    this.#left = isAlone ? Math.max(left, cores * elapsedMs) : Math.max(left, -cores * maxDebtMs);
  }
}
