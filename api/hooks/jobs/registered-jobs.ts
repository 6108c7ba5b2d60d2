// Jobs that loaded code has registered, on their way to the process that keeps the schedule, and to its next start.
import { notifyChange } from '../../../storage/control/changes.ts';
import { saveHookJobs } from '../../../storage/control/hook-jobs.ts';
import type { Deps } from '../../deps.ts';
import type { AppHooks } from '../app-hooks.ts';

/** What was saved of apps by this process. */
export class JobMemory {
  readonly #deps: Pick<Deps, 'databases' | 'observe'>;
  readonly #saved = new WeakMap<AppHooks, string>();

  constructor(deps: Pick<Deps, 'databases' | 'observe'>) {
    this.#deps = deps;
  }

  /** Saves the jobs of an app that were loaded, unless it has, and tells of them when they are others. Never throws. */
  async save(hooks: AppHooks): Promise<void> {
    const { place, app: { schema }, known } = hooks;
    if (known === undefined) return;
    const jobs = known.jobs.map(({ name, expression }) => ({ name, expression }));
    const text = JSON.stringify(jobs);
    if (this.#saved.get(hooks) === text) return;
    const { databases, observe } = this.#deps;
    try {
      await databases.control.transaction(async (sql) => {
        const isNew = await saveHookJobs(sql, { ...place, schema, jobs });
        if (isNew) await notifyChange(sql, { kind: 'jobs', ...place });
      });
      this.#saved.set(hooks, text);
    } catch (error) {
      observe({ type: 'background_failed', task: 'remember the jobs of hooks', error: String(error) });
    }
  }
}
