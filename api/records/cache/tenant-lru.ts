// What is kept in memory for several owners: within one bound, by what was used last, and so that nobody costs the others
// theirs.

/** A value, and how large it is. */
interface Kept<Value> {
  value: Value;
  size: number;
  /** Whether it was asked for since it was last looked at for room. */
  isUsed: boolean;
}

/** So many in a row have a second chance: whoever adds a value does not wait until all were looked at. */
const mostChances = 16;

/** Of one owner. */
class Shelf<Value> {
  readonly owner: string;
  /** Whether anything was asked for or added since somebody last looked. */
  isUsed = false;
  readonly #kept = new Map<string, Kept<Value>>();
  /** Goes round all that is kept. */
  #hand: Iterator<[string, Kept<Value>]> = this.#kept.entries();
  #size = 0;

  constructor(owner: string) {
    this.owner = owner;
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): Value | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    kept.isUsed = this.isUsed = true;
    return kept.value;
  }

  set(key: string, value: Value, size: number): void {
    this.isUsed = true;
    const known = this.#kept.get(key);
    this.#size += size - (known?.size ?? 0);
    // Changed where it is: a hand that rests holds on to what was there when it came.
    if (known !== undefined) Object.assign(known, { value, size, isUsed: false });
    else this.#kept.set(key, { value, size, isUsed: false });
  }

  /** Lets go of the next one that was not used since the hand came by, if there soon is one. There must be any. */
  letGo(): void {
    for (let chances = 0;;) {
      const next = this.#hand.next();
      if (next.done === true) {
        this.#hand = this.#kept.entries();
        continue;
      }
      const [key, kept] = next.value;
      if (kept.isUsed && chances++ < mostChances) kept.isUsed = false;
      else {
        this.#kept.delete(key);
        this.#size -= kept.size;
        return;
      }
    }
  }

  clear(): void {
    this.#kept.clear();
    this.#size = 0;
  }
}

/** Whoever asks for nothing for so long, or for twice as long, makes room before others do. */
const idleMilliseconds = 600_000;
/** How many magnitudes there are between a size and its double. */
const steps = 4;
/** Nothing is larger than 4 GiB. */
const magnitudes = steps * 32 + 1;

function magnitudeOf(size: number): number {
  return Math.ceil(steps * Math.log2(size + 1));
}

/** Values by owner and key. */
export class KeptRecords<Value> {
  readonly #most: number;
  readonly #shelves = new Map<string, Shelf<Value>>();
  /** The same by the magnitudes of their sizes: there may be thousands, and each value that is added asks for the largest. */
  readonly #byMagnitude = Array.from({ length: magnitudes }, () => new Set<Shelf<Value>>());
  readonly #now: () => number;
  #size = 0;
  #lookedAt: number;

  /** `most`: the size of all together; `now` in milliseconds. */
  constructor(most: number, now = () => performance.now()) {
    this.#most = most;
    this.#now = now;
    this.#lookedAt = now();
  }

  get(owner: string, key: string): Value | undefined {
    return this.#shelves.get(owner)?.get(key);
  }

  /** Adds or replaces a value, whose size is not 0. Those who have most make room, within a fifth or so. */
  add(owner: string, { key, value, size }: { key: string; value: Value; size: number }): void {
    const shelf = this.#shelves.get(owner) ?? new Shelf(owner);
    this.#change(shelf, () => shelf.set(key, value, size));
    while (this.#size > this.#most) this.#makeRoom();
  }

  #makeRoom(): void {
    if (this.#now() >= this.#lookedAt + idleMilliseconds) return this.#forgetIdle();
    const [largest] = this.#byMagnitude.findLast(({ size }) => size > 0) ?? [];
    if (largest !== undefined) this.#change(largest, () => largest.letGo());
  }

  /** They would keep others from having more than they have, for ever. */
  #forgetIdle(): void {
    this.#lookedAt = this.#now();
    for (const shelf of this.#shelves.values()) {
      if (!shelf.isUsed) this.#change(shelf, () => shelf.clear());
      shelf.isUsed = false;
    }
  }

  #change(shelf: Shelf<Value>, change: () => void): void {
    const { owner, size: before } = shelf;
    change();
    const { size } = shelf;
    this.#size += size - before;
    const [from, to] = [magnitudeOf(before), magnitudeOf(size)];
    if (from === to) return;
    this.#byMagnitude[from]?.delete(shelf);
    if (size === 0) this.#shelves.delete(owner);
    else {
      this.#shelves.set(owner, shelf);
      this.#byMagnitude[to]?.add(shelf);
    }
  }
}
