// Keeps the caches of this process in step with the changes of other processes.
import { setTimeout as pause } from 'node:timers/promises';
import { type Change, listenForChanges } from '../../storage/control/changes.ts';
import { pingServer } from '../../storage/control/server.ts';
import type { Auth } from '../auth/build.ts';
import type { DefinitionCache } from '../collections/cache.ts';
import type { Deps } from '../deps.ts';
import { fail } from '../errors.ts';
import type { HookSystem } from '../hooks/build.ts';

/** The caches, besides those of `Deps`. */
interface Caches {
  definitions: DefinitionCache;
  auth: Auth;
  hooks: HookSystem['hooks'];
  /** Reads whether the first-run setup is complete. */
  refreshSetup: (deps: Deps) => Promise<void>;
}

/** Tells how current the caches are. */
export interface CacheSync {
  /**
   * Undefined while every change that is older than two seconds has been applied. Otherwise a promise, to be awaited before
   * anything is allowed by a cache; it rejects with `503 unavailable` when the changes cannot be read.
   */
  untilFresh(): Promise<void> | undefined;
  stop(): Promise<void>;
}

const checkIntervalMs = 1_000;
/** The longest wait of a request for fresh caches. */
const maxWaitMs = 5_000;
/** Two checks, the second of which is under way. */
const staleAfterMs = 2 * checkIntervalMs;

/** Starts to listen for changes and to apply them. Throws `StorageError`. */
export async function startCacheSync(deps: Deps, caches: Caches): Promise<CacheSync> {
  const { definitions, auth, hooks, refreshSetup } = caches;
  const onResync = () => {
    definitions.invalidateAll();
    deps.policyCache.invalidateAll();
    void deps.databaseSettings.resync();
    auth.reload();
    hooks.resync();
    void refreshSetup(deps);
  };
  const onChange = (change: Change) => {
    definitions.invalidateLocally(change);
    deps.policyCache.onChange(change);
    void deps.databaseSettings.onChange(change);
    auth.onChange(change);
    hooks.onChange(change);
    if (change.kind === 'setup') void refreshSetup(deps);
    if (change.kind === 'release') deps.databases.renew(change.database);
  };
  const listener = await listenForChanges(deps.databases.control.endpoint, { onChange, onResync });
  const catchUp = async () => {
    await listener.ping().catch(async () => {
      await deps.databases.control.run(pingServer);
      onResync();
    });
    await auth.caughtUp();
  };
  return new PeriodicSync({ catchUp, stop: () => listener.stop(), isAlone: deps.config.api.workers === 1 });
}

interface SyncParts {
  /** Resolves once all changes so far have been applied. */
  catchUp: () => Promise<void>;
  stop: () => Promise<void>;
  /** True for a lone process, which has made all changes itself. */
  isAlone: boolean;
}

/** Catches up every second, and before a request when that is overdue, as after the process was suspended. */
class PeriodicSync implements CacheSync {
  readonly #parts: SyncParts;
  readonly #timer: NodeJS.Timeout;
  /** Changes until this time have been applied; by a clock that is never set back. */
  #freshUntil = performance.now();
  #catchingUp: Promise<void> | undefined;

  constructor(parts: SyncParts) {
    this.#parts = parts;
    // A failure needs no report: requests wait for a fresh cache, and fail without it.
    this.#timer = setInterval(() => void this.#catchUp().catch(() => undefined), checkIntervalMs);
  }

  untilFresh(): Promise<void> | undefined {
    if (this.#parts.isAlone) return undefined;
    const needed = performance.now() - staleAfterMs;
    return this.#freshUntil < needed ? this.#waitUntil(needed) : undefined;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#parts.stop();
  }

  async #waitUntil(needed: number): Promise<void> {
    const timeout = pause(maxWaitMs, undefined, { ref: false });
    await Promise.race([this.#catchUpTo(needed), timeout]).catch(() => 'refused below');
    if (this.#freshUntil < needed) {
      fail('unavailable', 'what other processes have changed cannot be read; try again');
    }
  }

  /** A catch-up that began before the process was suspended misses the changes since. */
  async #catchUpTo(needed: number): Promise<void> {
    while (this.#freshUntil < needed) await this.#catchUp();
  }

  #catchUp(): Promise<void> {
    const startedAt = performance.now();
    this.#catchingUp ??= this.#parts.catchUp().then(() => void (this.#freshUntil = startedAt))
      .finally(() => this.#catchingUp = undefined);
    return this.#catchingUp;
  }
}
