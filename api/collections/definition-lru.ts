// Which definitions of apps are kept in memory, and which are let go of when they are too many.
import type { AppDefinition } from '../../storage/definition.ts';

interface Kept {
  app: AppDefinition;
  /** Its size, as JSON. What is made of it takes some five times as much. */
  bytes: number;
}

/** The apps of one workspace that have been read. */
export class KeptApps {
  /** In the order in which they were read. */
  readonly #kept = new Map<string, Kept>();
  /** Whoever is still at work with one has it found: another of the same state would pass for a change. */
  readonly #loose = new Map<string, WeakRef<AppDefinition>>();
  #bytes = 0;

  /** Size of what is kept, as JSON. */
  get bytes(): number {
    return this.#bytes;
  }

  get(id: string): AppDefinition | undefined {
    return this.#kept.get(id)?.app ?? this.#loose.get(id)?.deref();
  }

  add(app: AppDefinition): void {
    this.#add({ app, bytes: bytesOf(app) });
  }

  /** The same apps but for one. */
  without(id: string): KeptApps {
    const others = new KeptApps();
    for (const kept of this.#kept.values()) if (kept.app.id !== id) others.#add(kept);
    for (const [other, app] of this.#loose) if (other !== id) others.#loose.set(other, app);
    return others;
  }

  /** Keeps the one that was read first no longer. */
  letGo(): void {
    const [first] = this.#kept.values();
    if (first === undefined) return;
    const { app, bytes } = first;
    this.#kept.delete(app.id);
    this.#bytes -= bytes;
    for (const [id, known] of this.#loose) if (known.deref() === undefined) this.#loose.delete(id);
    this.#loose.set(app.id, new WeakRef(app));
  }

  #add(kept: Kept): void {
    this.#kept.set(kept.app.id, kept);
    this.#bytes += kept.bytes;
  }
}

/** Lets go of apps until all together are no larger than that. Who has most pays first: nobody costs the others theirs. */
export function makeRoom(workspaces: readonly KeptApps[], mostBytes: number): void {
  let left = workspaces.reduce((sum, { bytes }) => sum + bytes, 0);
  while (left > mostBytes) {
    const heaviest = workspaces.reduce((most, apps) => apps.bytes > most.bytes ? apps : most);
    left -= heaviest.bytes;
    heaviest.letGo();
    left += heaviest.bytes;
  }
}

function bytesOf({ collections }: AppDefinition): number {
  return JSON.stringify([...collections.values()]).length;
}
