// A cache of limited size that evicts the least recently used entry (LRU).

/** Keeps the entries that were used last. */
export class LruCache<Entry> {
  readonly #maxEntries: number;
  /** In the order of use. */
  readonly #entries = new Map<string, Entry>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  /** Finds an entry, which counts as used. */
  get(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.set(key, entry);
    return entry;
  }

  /** Adds or replaces an entry. */
  set(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const oldest = this.#entries.size > this.#maxEntries ? this.#entries.keys().next().value : undefined;
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  /** Deletes an entry. */
  delete(key: string): void {
    this.#entries.delete(key);
  }
}
