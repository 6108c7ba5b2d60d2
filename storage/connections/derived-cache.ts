// A bounded cache of what is derived from definitions; an entry goes with its definition.

/** Values by what they were made of. */
export class DerivedCache<Key extends object, Value> {
  readonly #most: number;
  #known = new WeakMap<Key, Value>();
  #size = 0;

  /** `most`: how large all values together may grow before they are forgotten, and made anew when they are needed. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The value of a key, made the first time that it is asked for. */
  of(key: Key, make: () => Value): Value {
    let value = this.#known.get(key);
    if (value === undefined) {
      value = make();
      this.#known.set(key, value);
    }
    return value;
  }

  /** Hears how much one of the values has grown. */
  grow(size: number): void {
    this.#size += size;
    if (this.#size <= this.#most) return;
    this.#known = new WeakMap();
    this.#size = 0;
  }
}
