// Jobs that loaded code has registered, on their way to the process that keeps the schedule, and to its next start.
import { notifyChange } from '../../../storage/control/changes.ts';
import { saveHookJobs } from '../../../storage/control/hook-jobs.ts';
import type { Deps } from '../../deps.ts';
import type { AppHooks } from '../app-hooks.ts';

/** The registrations of apps that this process has saved. */
export class RegisteredJobs {
  readonly #deps: Pick<Deps, 'databases' | 'observe'>;
  readonly #saved = new WeakMap<AppHooks, string>();

  constructor(deps: Pick<Deps, 'databases' | 'observe'>) {
    this.#deps = deps;
  }

  /** Saves the jobs of an app that were loaded, unless it has, and tells of them when they are others. Never throws. */
  async save(hooks: AppHooks): Promise<void> {
    const { path, app: { schema }, registrations } = hooks;
    if (registrations === undefined) return;
    const jobs = registrations.jobs.map(({ name, expression }) => ({ name, expression }));
    const text = JSON.stringify(jobs);
    if (this.#saved.get(hooks) === text) return;
    const { databases, observe } = this.#deps;
    try {
      await databases.control.transaction(async (sql) => {
        const isNew = await saveHookJobs(sql, { ...path, schema, jobs });
        if (isNew) await notifyChange(sql, { kind: 'jobs', ...path });
      });
      this.#saved.set(hooks, text);
    } catch (error) {
      observe({ type: 'background_failed', task: 'remember the jobs of hooks', error: String(error) });
    }
  }
}
