// A bounded cache that drops what was used longest ago (LRU).

/** The entries that were used last. */
export class LruCache<Entry> {
  readonly #most: number;
  /** In the order of use. */
  readonly #entries = new Map<string, Entry>();

  /** `most`: entries that are kept. */
  constructor(most: number) {
    this.#most = most;
  }

  /** An entry, which counts as used. */
  get(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.set(key, entry);
    return entry;
  }

  /** Adds or replaces an entry. */
  set(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const oldest = this.#entries.size > this.#most ? this.#entries.keys().next().value : undefined;
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  /** Forgets an entry. */
  delete(key: string): void {
    this.#entries.delete(key);
  }
}
