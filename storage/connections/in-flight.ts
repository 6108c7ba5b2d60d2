// A table of what is in flight, by number. Entries come and go with every request.

interface Entry<Value> {
  readonly number: number;
  value: Value;
  /** The next older entry of the same list. */
  next: Entry<Value> | undefined;
}

/** Numbers are consecutive, so about as many entries can be in flight before two share a list. */
const lists = 64;

/**
 * Values by consecutive numbers, each for a short time.
 *
 * It replaces `Map` and `Set`. V8 copies those after a number of additions, even if entries were deleted meanwhile, and
 * the old table keeps the new one alive with all its values. A full collection promotes the table in use to the old
 * generation. From then on every young collection promotes its successors too: under load, most of what requests
 * allocate then survives until the next full collection, and the same begins again.
 */
export class InFlight<Value> {
  readonly #newest: (Entry<Value> | undefined)[] = Array.from({ length: lists }, () => undefined);
  #size = 0;

  /** The number of entries. */
  get size(): number {
    return this.#size;
  }

  /** The value of a number. */
  get(number: number): Value | undefined {
    return this.#find(number)?.value;
  }

  /** Sets the value of a number. */
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

  /** Deletes a number; false when it was not there. */
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

  /** Deletes all. */
  clear(): void {
    this.#newest.fill(undefined);
    this.#size = 0;
  }

  /** All numbers and values as they are now, in no order. */
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
