// A fair queue: a number of slots, shared by owners of whom none can keep the others waiting, and by the clients of each.

/** Why a place in the queue was refused. */
export type Refusal = 'full' | 'late' | 'closed';

/** The limits of a queue. Every one but `slots` is unbounded unless it is given. */
export interface FairQueueOptions {
  /** How many hold a slot at once; a function where that changes with the times. */
  slots: number | (() => number);
  /** How many slots one owner holds at once. */
  perOwner?: number;
  /** How many wait at once, over all owners; a function where that changes with the times. */
  maxWaiting?: number | (() => number);
  /** How long one waits, in milliseconds. */
  timeoutMs?: number;
  /** The error of a refusal. A `QueueRefusal` unless it is given. */
  refuse?: (refusal: Refusal) => Error;
}

/** The place of one waiter among the others of its owner. */
export interface QueuePlace {
  /** True for one that goes before all others. */
  first?: boolean;
  client?: string;
}

/** The error of a queue that says nothing of its own: full, too late, or closed. */
export class QueueRefusal extends Error {
  constructor(refusal: Refusal) {
    super(`refused by a queue: ${refusal}`);
  }
}

interface Waiter {
  client: string;
  /** Waiters of an owner go in the order of their rounds. A client has one waiter in each. */
  round: number;
  admit(): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout | undefined;
}

interface Owner {
  running: number;
  waiting: Waiter[];
  /** The round of the waiter that was admitted last. */
  round: number;
  /** The number of its last turn; 0 when it has had none lately. */
  servedAt: number;
}

/**
 * Admits up to `slots` at once. The owner that holds fewest slots is next; of those alike, the one whose turn is longest ago;
 * of one owner, its clients take turns; of one client, first come, first served. A slot that is released goes straight to
 * whoever is next. In a full queue the last waiter of the owner with most of them makes way for an owner with fewer.
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  /** Owners with slots or waiters. */
  readonly #owners = new Map<string, Owner>();
  /** Owners with waiters, in the order in which they came to have some. */
  readonly #waitingOwners = new Map<string, Owner>();
  #running = 0;
  #waiting = 0;
  #served = 0;
  #isClosed = false;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /** Does work in a slot and returns its result. Throws what the work throws, and the error of a refusal. */
  async run<Result>(work: () => Promise<Result>, owner = '', place: QueuePlace = {}): Promise<Result> {
    const admitted = this.acquire(owner, place);
    if (admitted !== undefined) await admitted;
    try {
      return await work();
    } finally {
      this.release(owner);
    }
  }

  /** Takes a slot: at once, or by a promise. `first`: before the owner's other waiters. Throws or rejects with a refusal. */
  acquire(owner = '', { first = false, client = '' }: QueuePlace = {}): void | Promise<void> {
    if (this.#isClosed) throw this.#refusal('closed');
    if (this.tryAcquire(owner)) return;
    const round = first ? 0 : this.#nextRound(owner, client);
    const refused = this.#makeWay(owner, round);
    if (refused !== undefined) throw refused;
    return new Promise((admit, reject) =>
      this.#enqueue(owner, { admit, reject, client, round, timer: undefined })
    );
  }

  /** Takes a slot if one is free and nobody with a better claim waits for it. */
  tryAcquire(owner = ''): boolean {
    const running = this.#owners.get(owner)?.running ?? 0;
    const { perOwner = Infinity } = this.#options;
    if (this.#running >= this.#slots() || running >= perOwner) return false;
    this.#start(this.#ownerOf(owner));
    return true;
  }

  /** Gives a slot back. */
  release(owner = ''): void {
    const own = this.#ownerOf(owner);
    own.running--;
    this.#running--;
    this.#forgetIdle(owner, own);
    this.advance();
  }

  /** Admits whoever may go on now. To be called where `slots` has become more without a release. */
  advance(): void {
    while (this.#running < this.#slots()) {
      const next = this.#next();
      if (next === undefined) return;
      const [name, owner] = next;
      const waiter = owner.waiting.shift();
      if (waiter === undefined) return;
      this.#waiting--;
      if (owner.waiting.length === 0) this.#waitingOwners.delete(name);
      this.#start(owner);
      owner.round = Math.max(owner.round, waiter.round);
      clearTimeout(waiter.timer);
      waiter.admit();
    }
  }

  /** Refuses all that wait, and all that come. */
  close(): void {
    this.#isClosed = true;
    for (const [name, { waiting }] of [...this.#waitingOwners]) {
      for (const waiter of [...waiting]) this.#refuse(name, waiter, 'closed');
    }
  }

  /** A client that has none waiting comes before the second waiter of any other. */
  #nextRound(name: string, client: string): number {
    const owner = this.#owners.get(name);
    return (owner?.waiting.findLast((waiter) => waiter.client === client)?.round ?? owner?.round ?? 0) + 1;
  }

  #enqueue(name: string, waiter: Waiter): void {
    const { timeoutMs } = this.#options;
    if (timeoutMs !== undefined) {
      waiter.timer = setTimeout(() => this.#refuse(name, waiter, 'late'), timeoutMs);
    }
    const owner = this.#ownerOf(name);
    owner.waiting.splice(owner.waiting.findLastIndex(({ round }) => round <= waiter.round) + 1, 0, waiter);
    this.#waiting++;
    this.#waitingOwners.set(name, owner);
  }

  /** Makes room for one more waiter of an owner; returns the error where there is none to be made. */
  #makeWay(name: string, round: number): Error | undefined {
    const { maxWaiting = Infinity } = this.#options;
    if (this.#waiting < toNumber(maxWaiting)) return undefined;
    let longest: [string, Owner] | undefined;
    for (const entry of this.#waitingOwners) {
      if (longest === undefined || entry[1].waiting.length > longest[1].waiting.length) longest = entry;
    }
    const own = this.#owners.get(name)?.waiting.length ?? 0;
    const last = longest?.[1].waiting.at(-1);
    if (longest === undefined || last === undefined) return this.#refusal('full');
    const isFair = longest[0] === name ? last.round > round : longest[1].waiting.length > own + 1;
    if (!isFair) return this.#refusal('full');
    this.#refuse(longest[0], last, 'full');
    return undefined;
  }

  #refuse(name: string, waiter: Waiter, refusal: Refusal): void {
    const owner = this.#ownerOf(name);
    const place = owner.waiting.indexOf(waiter);
    if (place === -1) return;
    owner.waiting.splice(place, 1);
    this.#waiting--;
    if (owner.waiting.length === 0) this.#waitingOwners.delete(name);
    this.#forgetIdle(name, owner);
    clearTimeout(waiter.timer);
    waiter.reject(this.#refusal(refusal));
  }

  #refusal(refusal: Refusal): Error {
    return this.#options.refuse?.(refusal) ?? new QueueRefusal(refusal);
  }

  #next(): [string, Owner] | undefined {
    const { perOwner = Infinity } = this.#options;
    let next: [string, Owner] | undefined;
    for (const entry of this.#waitingOwners) {
      if (entry[1].running < perOwner && (next === undefined || isBefore(entry[1], next[1]))) next = entry;
    }
    return next;
  }

  #start(owner: Owner): void {
    owner.running++;
    owner.servedAt = ++this.#served;
    this.#running++;
  }

  #slots(): number {
    return toNumber(this.#options.slots);
  }

  #ownerOf(name: string): Owner {
    let owner = this.#owners.get(name);
    if (owner === undefined) {
      this.#owners.set(name, owner = { running: 0, waiting: [], round: 0, servedAt: 0 });
    }
    return owner;
  }

  #forgetIdle(name: string, { running, waiting }: Owner): void {
    if (running === 0 && waiting.length === 0) this.#owners.delete(name);
  }
}

function toNumber(limit: number | (() => number)): number {
  return typeof limit === 'number' ? limit : limit();
}

/** True when one owner has a better claim to the next slot than another that came before it. */
function isBefore(one: Owner, other: Owner): boolean {
  return one.running < other.running || (one.running === other.running && one.servedAt < other.servedAt);
}
