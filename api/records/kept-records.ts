// What is kept in memory for several owners: within one bound, by what was used last, and so that nobody costs the others
// theirs.

/** A value, and how large it is. */
interface Kept<Value> {
  readonly value: Value;
  readonly size: number;
  /** Whether it was asked for since it was last looked at for room. */
  isUsed: boolean;
}

/** Of one owner. */
class Shelf<Value> {
  /** Who stands first is looked at first. */
  readonly #kept = new Map<string, Kept<Value>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: string): Value | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    // Not moved to the end: to take entries out and in again with every use is what V8's maps are slow at.
    kept.isUsed = true;
    return kept.value;
  }

  set(key: string, value: Value, size: number): void {
    this.#size += size - (this.#kept.get(key)?.size ?? 0);
    this.#kept.set(key, { value, size, isUsed: false });
  }

  /** Lets go of entries until no more than that is left: who was used has a second chance. */
  shrinkTo(most: number): void {
    for (const [key, kept] of this.#kept) {
      if (this.#size <= most) return;
      this.#kept.delete(key);
      if (kept.isUsed) this.#kept.set(key, { ...kept, isUsed: false });
      else this.#size -= kept.size;
    }
  }
}

/** How much room is made at once, as a share of all. */
const madeAtOnce = 1 / 16;
/** By how much the largest shelf shrinks until it is asked again which one that is. */
const shrinking = 7 / 8;

/** Values by owner and key. */
export class KeptRecords<Value> {
  readonly #most: number;
  readonly #shelves = new Map<string, Shelf<Value>>();
  #size = 0;

  /** `most`: the size of all together. */
  constructor(most: number) {
    this.#most = most;
  }

  get(owner: string, key: string): Value | undefined {
    return this.#shelves.get(owner)?.get(key);
  }

  /** Adds or replaces a value. */
  add(owner: string, { key, value, size }: { key: string; value: Value; size: number }): void {
    let shelf = this.#shelves.get(owner);
    if (shelf === undefined) this.#shelves.set(owner, shelf = new Shelf());
    this.#size -= shelf.size;
    shelf.set(key, value, size);
    this.#size += shelf.size;
    if (this.#size > this.#most) this.#makeRoom(this.#most * (1 - madeAtOnce));
  }

  #makeRoom(most: number): void {
    while (this.#size > most) {
      const [owner, largest] = this.#largest();
      const before = largest.size;
      largest.shrinkTo(Math.max(before * shrinking, before - (this.#size - most)));
      this.#size -= before - largest.size;
      if (largest.size === 0) this.#shelves.delete(owner);
    }
  }

  #largest(): [string, Shelf<Value>] {
    let largest: [string, Shelf<Value>] = ['', new Shelf()];
    for (const entry of this.#shelves) if (entry[1].size >= largest[1].size) largest = entry;
    return largest;
  }
}
