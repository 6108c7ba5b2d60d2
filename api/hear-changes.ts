// Keeps what is in memory in step with the other processes.
import { listen, type Listening } from '../storage/changes.ts';
import { pingServer } from '../storage/server.ts';
import type { Auth } from './auth/build.ts';
import type { DefinitionCache } from './collections/cache.ts';
import type { Deps } from './deps.ts';
import type { HookSystem } from './hooks/build.ts';

/** What is in memory. */
interface Remembered {
  definitions: DefinitionCache;
  auth: Auth;
  hooks: HookSystem['hooks'];
  /** Finds out whether the first-run setup is complete. */
  learnSetup: (deps: Deps) => Promise<void>;
}

/** Begins to listen, and to forget and read again. Throws `StorageError`. */
export function hearChanges(
  deps: Deps,
  { definitions, auth, hooks, learnSetup }: Remembered,
): Promise<Listening> {
  const onGap = () => {
    definitions.forgetAll();
    deps.policyBook.forgetAll();
    auth.reload();
    hooks.heedAll();
    void learnSetup(deps);
  };
  return listen(deps.databases.control.endpoint, {
    onChange: (change) => {
      definitions.forget(change);
      deps.policyBook.heed(change);
      auth.heed(change);
      hooks.heed(change);
      if (change.kind === 'setup') void learnSetup(deps);
    },
    onGap,
    onDeaf: () =>
      void deps.databases.control.run(pingServer).then(onGap, () => {
        // A lone process misses nothing.
        if (deps.config.api.workers > 1) definitions.distrustAll();
      }),
  });
}
