// When a process that died is started again.

/** How patient the supervisor is with one child. All times in milliseconds. */
export interface RestartRules {
  /** Wait after the first crash; doubles with every further one. */
  firstWait: number;
  longestWait: number;
  /** This many crashes within `window`, none of them after a healthy while, open the breaker. */
  crashes: number;
  window: number;
  /** How long the breaker stays open. */
  rest: number;
  /** A child that was ready for so long starts with a clean slate when it dies. */
  healthy: number;
}

/** For the API and PostgreSQL: one that was serving and is killed must be back at once, however often that happens. */
export const coreRestarts: RestartRules = {
  firstWait: 100,
  longestWait: 30_000,
  crashes: 5,
  window: 60_000,
  rest: 30_000,
  healthy: 150,
};

/** What to do after a crash: wait so many milliseconds; `opened` says that this crash opened the breaker. */
export interface Verdict {
  wait: number;
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
  crashed(now: number, readySince: number | undefined): Verdict {
    const rules = this.#rules;
    if (readySince !== undefined && now - readySince >= rules.healthy) this.#crashes = [];
    this.#crashes = [...this.#crashes.filter((at) => now - at < rules.window), now];
    if (this.#crashes.length >= rules.crashes) return { wait: rules.rest, opened: true };
    const wait = rules.firstWait * 2 ** (this.#crashes.length - 1);
    return { wait: Math.min(wait, rules.longestWait), opened: false };
  }
}
