// Who waits for a thread that hashes passwords, and whose turn is next.

/** Whose passwords they are: however many wait of one, the others have their turns. */
export type Owner = 'masters' | `admins of ${string}` | `users of ${string}`;

/** The owners take turns; of one, first come, first served. */
export class Line<Waiting extends { owner: Owner }> {
  /** In the order of their turns; nobody's list is empty. */
  readonly #owners = new Map<Owner, Waiting[]>();
  readonly #most: number;
  #length = 0;

  /** `most` may wait. */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Puts somebody behind the others of their owner, or before them. In a full line answers who must go: the last of the
   * owner that has most in it, or the one that came.
   */
  join(waiting: Waiting, at: 'end' | 'head' = 'end'): Waiting | undefined {
    const own = this.#owners.get(waiting.owner) ?? [];
    const dropped = this.#length < this.#most ? undefined : this.#lastOfMany(own.length + 1);
    if (dropped === undefined && this.#length >= this.#most) return waiting;
    if (dropped !== undefined) this.leave(dropped);
    own.splice(at === 'end' ? own.length : 0, 0, waiting);
    this.#owners.set(waiting.owner, own);
    this.#length++;
    return dropped;
  }

  /** Takes somebody out, if they are in it; `served`: their owner has had its turn. */
  leave(waiting: Waiting, { served } = { served: false }): void {
    const { owner } = waiting;
    const own = this.#owners.get(owner) ?? [];
    const place = own.indexOf(waiting);
    if (place === -1) return;
    own.splice(place, 1);
    this.#length--;
    if (served || own.length === 0) this.#owners.delete(owner);
    if (own.length > 0) this.#owners.set(owner, own);
  }

  /** All who wait now, in the order of their turns, whoever comes or leaves meanwhile. */
  *inTurn(): Generator<Waiting, void, void> {
    const lists = [...this.#owners.values()].map((own) => [...own]);
    const rounds = Math.max(0, ...lists.map(({ length }) => length));
    for (let round = 0; round < rounds; round++) {
      yield* lists.flatMap((own) => own.slice(round, round + 1));
    }
  }

  /** Of the owner with most places, if those are more than `places`. */
  #lastOfMany(places: number): Waiting | undefined {
    let most: Waiting[] = [];
    for (const own of this.#owners.values()) if (own.length > most.length) most = own;
    return most.length > places ? most.at(-1) : undefined;
  }
}
