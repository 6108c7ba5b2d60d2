// Keeps what is in memory in step with the other processes.
import { setTimeout as pause } from 'node:timers/promises';
import { type Change, listenForChanges } from '../../storage/control/changes.ts';
import { pingServer } from '../../storage/control/server.ts';
import type { Auth } from '../auth/build.ts';
import type { DefinitionCache } from '../collections/cache.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import type { HookSystem } from '../hooks/build.ts';

/** What is in memory. */
interface Remembered {
  definitions: DefinitionCache;
  auth: Auth;
  hooks: HookSystem['hooks'];
  /** Finds out whether the first-run setup is complete. */
  learnSetup: (deps: Deps) => Promise<void>;
}

/** What another process has changed, and whether it is known here. */
export interface CacheSync {
  /**
   * Undefined while nothing that has changed more than two seconds ago can be unknown; else to be awaited before anything is
   * allowed by what is remembered. Rejects with `503 unavailable` when it cannot be found out.
   */
  untilFresh(): Promise<void> | undefined;
  stop(): Promise<void>;
}

const askMilliseconds = 1_000;
/** Nobody waits longer to be let in. */
const mostWaitedMilliseconds = 5_000;
/** Two questions, the second of which is under way. */
const staleMilliseconds = 2 * askMilliseconds;

/** Begins to listen, and to forget and read again. Throws `StorageError`. */
export async function startCacheSync(deps: Deps, remembered: Remembered): Promise<CacheSync> {
  const { definitions, auth, hooks, learnSetup } = remembered;
  const forgetAll = () => {
    definitions.invalidateAll();
    deps.policyCache.invalidateAll();
    auth.reload();
    hooks.resync();
    void learnSetup(deps);
  };
  const heed = (change: Change) => {
    definitions.invalidateLocally(change);
    deps.policyCache.onChange(change);
    auth.onChange(change);
    hooks.onChange(change);
    if (change.kind === 'setup') void learnSetup(deps);
  };
  const listening = await listenForChanges(deps.databases.control.endpoint, {
    onChange: heed,
    onResync: forgetAll,
  });
  const catchUp = async () => {
    await listening.ping().catch(async () => {
      await deps.databases.control.run(pingServer);
      forgetAll();
    });
    await auth.caughtUp();
  };
  return new ChangesHeard({ catchUp, stop: () => listening.stop(), isAlone: deps.config.api.workers === 1 });
}

interface Ear {
  catchUp: () => Promise<void>;
  stop: () => Promise<void>;
  /** A lone process has made all changes itself. */
  isAlone: boolean;
}

/** Asks every second whether anything was missed, and at once when it has not done so for longer: it was perhaps stopped. */
class ChangesHeard implements CacheSync {
  readonly #ear: Ear;
  readonly #asking: NodeJS.Timeout;
  /** What was changed until then is known; by a clock that is never set back. */
  #knownUntil = performance.now();
  #catchingUp: Promise<void> | undefined;

  constructor(ear: Ear) {
    this.#ear = ear;
    this.#asking = setInterval(() => void this.#catchUp().catch(() => 'behind'), askMilliseconds);
  }

  untilFresh(): Promise<void> | undefined {
    if (this.#ear.isAlone) return undefined;
    const needed = performance.now() - staleMilliseconds;
    return this.#knownUntil < needed ? this.#untilKnown(needed) : undefined;
  }

  async stop(): Promise<void> {
    clearInterval(this.#asking);
    await this.#ear.stop();
  }

  async #untilKnown(needed: number): Promise<void> {
    const late = pause(mostWaitedMilliseconds, undefined, { ref: false });
    await Promise.race([this.#catchUpTo(needed), late]).catch(() => 'refused below');
    if (this.#knownUntil < needed) {
      fail('unavailable', 'what other processes have changed cannot be read; try again');
    }
  }

  /** What was asked before this process was stopped says nothing of what came then. */
  async #catchUpTo(needed: number): Promise<void> {
    while (this.#knownUntil < needed) await this.#catchUp();
  }

  #catchUp(): Promise<void> {
    const began = performance.now();
    this.#catchingUp ??= this.#ear.catchUp().then(() => void (this.#knownUntil = began))
      .finally(() => this.#catchingUp = undefined);
    return this.#catchingUp;
  }
}
