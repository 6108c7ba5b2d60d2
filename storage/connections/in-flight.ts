// What is in flight, under a number each; entries come and go with every request.

interface Entry<Value> {
  readonly number: number;
  value: Value;
  /** The next older one of the same list. */
  next: Entry<Value> | undefined;
}

/** Numbers follow one another, so that about as many can be under way until two share a list. */
const lists = 64;

/**
 * Values by numbers that are given out one after another, each for a short time.
 *
 * It takes the place of a `Map` or a `Set`. V8 copies those after a number of additions, whether or not entries were deleted
 * meanwhile, and the old table keeps the new one alive, with all it holds. A full collection promotes the table in use to the
 * old generation, and from then on every young collection promotes its successors too: under load most of what requests
 * allocate then outlives them, until the next full collection, after which the same begins again.
 */
export class InFlight<Value> {
  readonly #newest: (Entry<Value> | undefined)[] = Array.from({ length: lists }, () => undefined);
  #size = 0;

  /** How many there are. */
  get size(): number {
    return this.#size;
  }

  /** The value of a number. */
  get(number: number): Value | undefined {
    return this.#find(number)?.value;
  }

  /** Gives a number a value, in the place of an earlier one. */
  set(number: number, value: Value): void {
    const known = this.#find(number);
    if (known !== undefined) {
      known.value = value;
      return;
    }
    const list = number % lists;
    this.#newest[list] = { number, value, next: this.#newest[list] };
    this.#size++;
  }

  /** Takes a number away; answers whether there was one. */
  delete(number: number): boolean {
    const list = number % lists;
    let newer: Entry<Value> | undefined;
    for (let entry = this.#newest[list]; entry !== undefined; entry = entry.next) {
      if (entry.number === number) {
        if (newer === undefined) this.#newest[list] = entry.next;
        else newer.next = entry.next;
        this.#size--;
        return true;
      }
      newer = entry;
    }
    return false;
  }

  /** Takes all away. */
  clear(): void {
    this.#newest.fill(undefined);
    this.#size = 0;
  }

  /** All numbers and values, as they are now, in no order. */
  entries(): [number, Value][] {
    const found: [number, Value][] = [];
    for (const newest of this.#newest) {
      for (let entry = newest; entry !== undefined; entry = entry.next) {
        found.push([entry.number, entry.value]);
      }
    }
    return found;
  }

  #find(number: number): Entry<Value> | undefined {
    let entry = this.#newest[number % lists];
    while (entry !== undefined && entry.number !== number) entry = entry.next;
    return entry;
  }
}
