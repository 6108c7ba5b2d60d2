// How long a handler of an app may run, how many at once, and how often jobs: policies, remembered until any policy changes.
import type { Deps } from '../../deps.ts';

/** The dependencies of the limits. */
export type RunLimitDeps = Pick<Deps, 'policies' | 'policyCache'>;

/** What policies say of an app's runs. */
export interface RunLimits {
  timeoutMs: number;
  /** Runs at once. */
  concurrency: number;
  /** Seconds between two times of a job. */
  cronMinSec: number;
}

/** The limits of one app's runs. */
export class RunLimit {
  readonly #deps: RunLimitDeps;
  readonly #place: { workspace: string; app: string };
  #found: RunLimits & { revision: number } | undefined;

  constructor(deps: RunLimitDeps, place: { workspace: string; app: string }) {
    this.#deps = deps;
    this.#place = place;
  }

  /** Undefined while they are to be found out. */
  get known(): RunLimits | undefined {
    return this.#found?.revision === this.#deps.policyCache.revision ? this.#found : undefined;
  }

  /** Finds them out. Throws `StorageError`. */
  async find(): Promise<RunLimits> {
    const { policies, policyCache: policyCache } = this.#deps;
    // Before they are read: what changes meanwhile makes them old.
    const { revision } = policyCache;
    const { value: timeoutMs } = await policies.range('hooks.timeout_ms', this.#place);
    const { value: concurrency } = await policies.range('hooks.concurrency', this.#place);
    const { value: cronMinSec } = await policies.range('hooks.cron_min_sec', this.#place);
    this.#found = { revision, timeoutMs, concurrency, cronMinSec };
    return this.#found;
  }
}
