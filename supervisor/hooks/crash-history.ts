// The history of each app beyond its runners: how often they crashed, and how much they wrote.
import { type RestartRules, Restarts } from '../restarts.ts';
import { OutputBudget } from './runner-output.ts';

/** Which app. */
export interface AppName {
  workspace: string;
  app: string;
}

/** No wait after a crash, as callers wait for a response; five in a minute, and the app rests for half of one. */
const rules: RestartRules = {
  firstWaitMs: 0,
  maxWaitMs: 0,
  maxCrashes: 5,
  windowMs: 60_000,
  openMs: 30_000,
  healthyMs: Infinity,
};

interface Entry {
  restarts: Restarts;
  restsUntil: number;
  budget: OutputBudget;
  /** Nothing in it matters after this time. */
  staleAt: number;
}

/** How many apps are remembered before the stale ones are looked for. */
const maxEntries = 500;

/** The crashes and the output of all apps. */
export class CrashHistory {
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();

  /** `now` in milliseconds, of any origin. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Notes a crash; true when the app is to rest. */
  crashed(app: AppName): boolean {
    const now = this.#now();
    const entry = this.#entry(app);
    const { waitMs: wait, opened } = entry.restarts.crashed(now, undefined);
    if (opened) entry.restsUntil = now + wait;
    return opened;
  }

  /** Milliseconds that the app still rests. */
  openMs(app: AppName): number {
    return Math.max(0, (this.#entries.get(keyOf(app))?.restsUntil ?? 0) - this.#now());
  }

  /** The output budget of the app, over all of its runners. */
  budgetOf(app: AppName): OutputBudget {
    return this.#entry(app).budget;
  }

  /** Forgets the app's crashes, not what it wrote. */
  clear(app: AppName): void {
    const entry = this.#entries.get(keyOf(app));
    if (entry === undefined) return;
    entry.restarts = new Restarts(rules);
    entry.restsUntil = 0;
  }

  #entry(app: AppName): Entry {
    const now = this.#now();
    const key = keyOf(app);
    const entry = this.#entries.get(key) ??
      { restarts: new Restarts(rules), restsUntil: 0, budget: new OutputBudget(), staleAt: 0 };
    entry.staleAt = now + rules.windowMs + rules.openMs;
    if (!this.#entries.has(key) && this.#entries.size >= maxEntries) this.#dropStale(now);
    this.#entries.set(key, entry);
    return entry;
  }

  #dropStale(now: number): void {
    for (const [key, { staleAt }] of this.#entries) {
      if (staleAt < now) this.#entries.delete(key);
    }
  }
}

/** Ids have no slash in them. */
function keyOf({ workspace, app }: AppName): string {
  return `${workspace}/${app}`;
}
