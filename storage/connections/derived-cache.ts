// A bounded cache of values that are derived from definitions. An entry goes with its definition.

/** Values by the objects that they were made of. */
export class DerivedCache<Key extends object, Value> {
  readonly #max: number;
  #values = new WeakMap<Key, Value>();
  #size = 0;

  /**
   * `max` is the size of all values together. When they grow beyond it, all are dropped, and made again when needed.
   */
  constructor(max: number) {
    this.#max = max;
  }

  /** The value of a key, made when it is first needed. */
  of(key: Key, make: () => Value): Value {
    let value = this.#values.get(key);
    if (value === undefined) {
      value = make();
      this.#values.set(key, value);
    }
    return value;
  }

  /** Adds to the size of all values. */
  grow(size: number): void {
    this.#size += size;
    if (this.#size <= this.#max) return;
    this.#values = new WeakMap();
    this.#size = 0;
  }
}
