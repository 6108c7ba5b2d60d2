// The cached app definitions of a workspace, and their eviction.
import type { AppDefinition } from '../../storage/definition.ts';

interface CachedApp {
  app: AppDefinition;
  /** Its size as JSON, in bytes. In memory it takes some five times as much. */
  bytes: number;
}

/** The cached apps of one workspace, in the order in which they were read. */
export class DefinitionLru {
  /** In the order in which they were read. */
  readonly #apps = new Map<string, CachedApp>();
  /** Evicted apps that are still in use. They are found again, since a second object would count as a changed definition. */
  readonly #evicted = new Map<string, WeakRef<AppDefinition>>();
  #bytes = 0;

  /** The size of the cached apps as JSON, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  get(id: string): AppDefinition | undefined {
    return this.#apps.get(id)?.app ?? this.#evicted.get(id)?.deref();
  }

  add(app: AppDefinition): void {
    this.#add({ app, bytes: definitionSize(app) });
  }

  /** A copy without one app. */
  without(id: string): DefinitionLru {
    const others = new DefinitionLru();
    for (const kept of this.#apps.values()) if (kept.app.id !== id) others.#add(kept);
    for (const [other, app] of this.#evicted) if (other !== id) others.#evicted.set(other, app);
    return others;
  }

  /** Evicts the app that was read first. */
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

/** Evicts apps until all together fit. The largest workspace comes first, so that none costs others their apps. */
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
