// How long a handler of an app may run: policy, remembered until any policy changes.
import type { Deps } from '../../deps.ts';

/** The dependencies of the limit. */
export type RunLimitDeps = Pick<Deps, 'policies' | 'policyCache'>;

/** The longest run of one app. */
export class RunLimit {
  readonly #deps: RunLimitDeps;
  readonly #place: { workspace: string; app: string };
  #found: { revision: number; milliseconds: number } | undefined;

  constructor(deps: RunLimitDeps, place: { workspace: string; app: string }) {
    this.#deps = deps;
    this.#place = place;
  }

  /** In milliseconds; undefined while it is to be found out. */
  get known(): number | undefined {
    const found = this.#found;
    return found?.revision === this.#deps.policyCache.revision ? found.milliseconds : undefined;
  }

  /** Finds it out. Throws `StorageError`. */
  async find(): Promise<number> {
    const { policies, policyCache: policyCache } = this.#deps;
    // Before it is read: what changes meanwhile makes it old.
    const { revision } = policyCache;
    const { value: milliseconds } = await policies.range('hooks.timeout_ms', this.#place);
    this.#found = { revision, milliseconds };
    return milliseconds;
  }
}
