// When a process that died is started again.

/** How patient the supervisor is with one child. All times in milliseconds. */
export interface RestartRules {
  /** Wait after the first crash; doubles with every further one. */
  firstWaitMs: number;
  maxWaitMs: number;
  /** This many crashes within `window`, none of them after a healthy while, open the breaker. */
  maxCrashes: number;
  windowMs: number;
  /** How long the breaker stays open. */
  openMs: number;
  /** A child that was ready for so long starts with a clean slate when it dies. */
  healthyMs: number;
}

/** For the API and PostgreSQL: one that was serving and is killed must be back at once, however often that happens. */
export const coreRestartRules: RestartRules = {
  firstWaitMs: 100,
  maxWaitMs: 30_000,
  maxCrashes: 5,
  windowMs: 60_000,
  openMs: 30_000,
  healthyMs: 150,
};

/** What to do after a crash: wait so many milliseconds; `opened` says that this crash opened the breaker. */
export interface RestartDecision {
  waitMs: number;
  opened: boolean;
}

/** The crash history of one child. */
export class Restarts {
  readonly #rules: RestartRules;
  #crashes: number[] = [];

  constructor(rules: RestartRules) {
    this.#rules = rules;
  }

  /** Notes a crash at `now`, of a child that had been ready since `readySince` (undefined: never was). */
  crashed(now: number, readySince: number | undefined): RestartDecision {
    const rules = this.#rules;
    if (readySince !== undefined && now - readySince >= rules.healthyMs) this.#crashes = [];
    this.#crashes = [...this.#crashes.filter((at) => now - at < rules.windowMs), now];
    if (this.#crashes.length >= rules.maxCrashes) return { waitMs: rules.openMs, opened: true };
    const wait = rules.firstWaitMs * 2 ** (this.#crashes.length - 1);
    return { waitMs: Math.min(wait, rules.maxWaitMs), opened: false };
  }
}
