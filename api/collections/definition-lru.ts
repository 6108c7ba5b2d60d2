// Which definitions of apps are kept in memory, and which are let go of when they are too many.
import type { AppDefinition } from '../../storage/definition.ts';

interface CachedApp {
  app: AppDefinition;
  /** Its size, as JSON. What is made of it takes some five times as much. */
  bytes: number;
}

/** The apps of one workspace that have been read. */
export class DefinitionLru {
  /** In the order in which they were read. */
  readonly #apps = new Map<string, CachedApp>();
  /** Whoever is still at work with one has it found: another of the same state would pass for a change. */
  readonly #evicted = new Map<string, WeakRef<AppDefinition>>();
  #bytes = 0;

  /** Size of what is kept, as JSON. */
  get bytes(): number {
    return this.#bytes;
  }

  get(id: string): AppDefinition | undefined {
    return this.#apps.get(id)?.app ?? this.#evicted.get(id)?.deref();
  }

  add(app: AppDefinition): void {
    this.#add({ app, bytes: definitionSize(app) });
  }

  /** The same apps but for one. */
  without(id: string): DefinitionLru {
    const others = new DefinitionLru();
    for (const kept of this.#apps.values()) if (kept.app.id !== id) others.#add(kept);
    for (const [other, app] of this.#evicted) if (other !== id) others.#evicted.set(other, app);
    return others;
  }

  /** Keeps the one that was read first no longer. */
  evictOldest(): void {
    const [first] = this.#apps.values();
    if (first === undefined) return;
    const { app, bytes } = first;
    this.#apps.delete(app.id);
    this.#bytes -= bytes;
    for (const [id, known] of this.#evicted) if (known.deref() === undefined) this.#evicted.delete(id);
    this.#evicted.set(app.id, new WeakRef(app));
  }

  #add(kept: CachedApp): void {
    this.#apps.set(kept.app.id, kept);
    this.#bytes += kept.bytes;
  }
}

/** Lets go of apps until all together are no larger than that. Who has most pays first: nobody costs the others theirs. */
export function evictToFit(workspaces: readonly DefinitionLru[], mostBytes: number): void {
  let left = workspaces.reduce((sum, { bytes }) => sum + bytes, 0);
  while (left > mostBytes) {
    const heaviest = workspaces.reduce((most, apps) => apps.bytes > most.bytes ? apps : most);
    left -= heaviest.bytes;
    heaviest.evictOldest();
    left += heaviest.bytes;
  }
}

function definitionSize({ collections }: AppDefinition): number {
  return JSON.stringify([...collections.values()]).length;
}
