// Decides when a crashed process is restarted: exponential back-off, and a circuit breaker.

/** The restart rules of one child. All times in milliseconds. */
export interface RestartRules {
  /** The wait after the first crash. It doubles with every further one. */
  firstWaitMs: number;
  maxWaitMs: number;
  /** So many crashes within `windowMs`, none after a healthy period, open the breaker. */
  maxCrashes: number;
  windowMs: number;
  /** The time for which the breaker stays open. */
  openMs: number;
  /** A child that was ready for so long is healthy: its earlier crashes no longer count. */
  healthyMs: number;
}

/** The rules for the API and PostgreSQL. One that was serving and is killed must restart at once, however often that happens. */
export const coreRestartRules: RestartRules = {
  firstWaitMs: 100,
  maxWaitMs: 30_000,
  maxCrashes: 5,
  windowMs: 60_000,
  openMs: 30_000,
  healthyMs: 150,
};

/** The decision after a crash: the wait in milliseconds, and true when this crash opened the breaker. */
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

  /** Records a crash at `now` of a child that had been ready since `readySince`; undefined when it never was. */
  crashed(now: number, readySince: number | undefined): RestartDecision {
    const rules = this.#rules;
    if (readySince !== undefined && now - readySince >= rules.healthyMs) this.#crashes = [];
    this.#crashes = [...this.#crashes.filter((at) => now - at < rules.windowMs), now];
    if (this.#crashes.length >= rules.maxCrashes) return { waitMs: rules.openMs, opened: true };
    const wait = rules.firstWaitMs * 2 ** (this.#crashes.length - 1);
    return { waitMs: Math.min(wait, rules.maxWaitMs), opened: false };
  }
}
