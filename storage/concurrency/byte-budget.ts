// A number of bytes that owners share: none can have more than its share of them, or keep the others waiting.

/** The limits of a budget. */
export interface ByteBudgetOptions {
  /** The bytes of all owners together. */
  total: number;
  /** The bytes of one owner. */
  share: number;
  /** How long bytes are waited for, in milliseconds. */
  timeoutMs: number;
  /** Makes the error of an owner that has waited for so long. */
  refuse(owner: string): Error;
}

interface Waiter {
  bytes: number;
  admit(): void;
}

interface Owner {
  held: number;
  /** First come, first served. */
  waiting: Waiter[];
}

/**
 * Lends bytes. Of the owners that wait, the one that holds least is next, and none passes it while it waits for what others have
 * to give back.
 */
export class ByteBudget {
  readonly #options: ByteBudgetOptions;
  /** Owners that hold bytes or wait for some. */
  readonly #owners = new Map<string, Owner>();
  #held = 0;

  constructor(options: ByteBudgetOptions) {
    this.#options = options;
  }

  /** The bytes of one owner. */
  get share(): number {
    return this.#options.share;
  }

  /** Takes bytes, at most a share, when it is the owner's turn. Throws the error of a refusal. */
  async acquire(owner: string, bytes: number): Promise<void> {
    if (this.tryAcquire(owner, bytes)) return;
    const own = this.#ownerOf(owner);
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        own.waiting.splice(own.waiting.indexOf(waiter), 1);
      };
      const admit = () => {
        leave();
        resolve();
      };
      const timer = setTimeout(() => {
        leave();
        reject(this.#options.refuse(owner));
        this.release(owner, 0);
      }, this.#options.timeoutMs);
      const waiter: Waiter = { bytes, admit };
      own.waiting.push(waiter);
    });
  }

  /** Takes bytes if they are free, and nobody waits who comes first. */
  tryAcquire(owner: string, bytes: number): boolean {
    const { held = 0, waiting = [] } = this.#owners.get(owner) ?? {};
    const isFirst = waiting.length === 0 && this.#next() === undefined;
    if (!isFirst || held + bytes > this.share || this.#held + bytes > this.#options.total) return false;
    this.#take(this.#ownerOf(owner), bytes);
    return true;
  }

  /** Gives bytes back. */
  release(owner: string, bytes: number): void {
    const own = this.#ownerOf(owner);
    this.#take(own, -bytes);
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const [{ bytes: wanted, admit }, waiting] = next;
      if (this.#held + wanted > this.#options.total) break;
      this.#take(waiting, wanted);
      admit();
    }
    if (own.held === 0 && own.waiting.length === 0) this.#owners.delete(owner);
  }

  #take(owner: Owner, bytes: number): void {
    owner.held += bytes;
    this.#held += bytes;
  }

  /** The waiter whose share has room for it and whose owner holds least. */
  #next(): [Waiter, Owner] | undefined {
    let next: [Waiter, Owner] | undefined;
    for (const owner of this.#owners.values()) {
      const [first] = owner.waiting;
      if (first === undefined || owner.held + first.bytes > this.share) continue;
      if (next === undefined || owner.held < next[1].held) next = [first, owner];
    }
    return next;
  }

  #ownerOf(name: string): Owner {
    let owner = this.#owners.get(name);
    if (owner === undefined) this.#owners.set(name, owner = { held: 0, waiting: [] });
    return owner;
  }
}
