// A cache for several owners within one bound: it evicts what was not used lately, of the owner with the most, so that nobody
// costs the others theirs.

/** A value, and how large it is. */
interface Entry<Value> {
  value: Value;
  size: number;
  /** True when it was used since an eviction last passed it. */
  isUsed: boolean;
}

/** So many in a row get a second chance: adding a value must not take as long as passing all of them. */
const maxChances = 16;

/** The entries of one owner, evicted by the CLOCK algorithm: a hand goes round, and passes by what was used. */
class OwnerCache<Value> {
  readonly owner: string;
  /** True when anything was asked for or added since the last sweep. */
  isUsed = false;
  readonly #entries = new Map<string, Entry<Value>>();
  #hand: Iterator<[string, Entry<Value>]> = this.#entries.entries();
  #size = 0;

  constructor(owner: string) {
    this.owner = owner;
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.isUsed = this.isUsed = true;
    return entry.value;
  }

  set(key: string, value: Value, size: number): void {
    this.isUsed = true;
    const known = this.#entries.get(key);
    this.#size += size - (known?.size ?? 0);
    // Changed where it is: the hand, which rests between evictions, would keep an entry that is replaced.
    if (known !== undefined) Object.assign(known, { value, size, isUsed: false });
    else this.#entries.set(key, { value, size, isUsed: false });
  }

  /** Evicts the next entry that was not used since the hand last passed it, or the one after 16 that were. There must be any. */
  evict(): void {
    for (let chances = 0;;) {
      const next = this.#hand.next();
      if (next.done === true) {
        this.#hand = this.#entries.entries();
        continue;
      }
      const [key, entry] = next.value;
      if (entry.isUsed && chances++ < maxChances) entry.isUsed = false;
      else {
        this.#entries.delete(key);
        this.#size -= entry.size;
        return;
      }
    }
  }

  clear(): void {
    this.#entries.clear();
    this.#size = 0;
  }
}

/** An owner that asks for nothing for so long, or for twice as long, is evicted before others are. Milliseconds. */
const idleMs = 600_000;
/** How many magnitudes there are between a size and its double. */
const steps = 4;
/** Nothing is larger than 4 GiB. */
const magnitudes = steps * 32 + 1;

function magnitudeOf(size: number): number {
  return Math.ceil(steps * Math.log2(size + 1));
}

/** Values by owner and key. */
export class TenantLru<Value> {
  readonly #maxSize: number;
  readonly #owners = new Map<string, OwnerCache<Value>>();
  /** The same by the magnitudes of their sizes: there may be thousands, and each eviction is of the largest. */
  readonly #byMagnitude = Array.from({ length: magnitudes }, () => new Set<OwnerCache<Value>>());
  readonly #now: () => number;
  #size = 0;
  #sweptAt: number;

  /** `maxSize`: of all values together; `now` in milliseconds. */
  constructor(maxSize: number, now = () => performance.now()) {
    this.#maxSize = maxSize;
    this.#now = now;
    this.#sweptAt = now();
  }

  /** A value, which counts as used. */
  get(owner: string, key: string): Value | undefined {
    return this.#owners.get(owner)?.get(key);
  }

  /** Adds or replaces a value, whose size is not 0. Evicts others where it has to: of those who have most, within a fifth or so. */
  add(owner: string, { key, value, size }: { key: string; value: Value; size: number }): void {
    const cache = this.#owners.get(owner) ?? new OwnerCache(owner);
    this.#change(cache, () => cache.set(key, value, size));
    while (this.#size > this.#maxSize) this.#evict();
  }

  #evict(): void {
    if (this.#now() >= this.#sweptAt + idleMs) return this.#evictIdle();
    const [largest] = this.#byMagnitude.findLast(({ size }) => size > 0) ?? [];
    if (largest !== undefined) this.#change(largest, () => largest.evict());
  }

  /** Idle owners would keep others from having more than they have, for ever. */
  #evictIdle(): void {
    this.#sweptAt = this.#now();
    for (const cache of this.#owners.values()) {
      if (!cache.isUsed) this.#change(cache, () => cache.clear());
      cache.isUsed = false;
    }
  }

  #change(cache: OwnerCache<Value>, change: () => void): void {
    const { owner, size: before } = cache;
    change();
    const { size } = cache;
    this.#size += size - before;
    const [from, to] = [magnitudeOf(before), magnitudeOf(size)];
    if (from === to) return;
    this.#byMagnitude[from]?.delete(cache);
    if (size === 0) this.#owners.delete(owner);
    else {
      this.#owners.set(owner, cache);
      this.#byMagnitude[to]?.add(cache);
    }
  }
}
