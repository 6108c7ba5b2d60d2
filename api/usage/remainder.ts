// The remainder of one quota in one process: counted from time to time, and reduced by every write in between.
import { setTimeout as pause } from 'node:timers/promises';
import { ignore } from '../logging/ignore.ts';

/** The processes that share a quota. */
export interface Sharing {
  /** True when no other process writes: then the remainder is exact between two counts. */
  isAlone: boolean;
  workers: number;
  /** The number of this process, from 0. */
  worker: number;
}

/** The source of a remainder. */
export interface RemainderOptions extends Sharing {
  /** Counts what is used by all processes. */
  count: () => Promise<number>;
  /**
   * True when usage also grows without a claim. Then a count is valid for five seconds, and for as long as no more than a small
   * part of what was left is claimed. Of a large quota, a little is granted before the first count.
   */
  leaks: boolean;
  now: () => number;
}

/** A part of the remainder, taken before a write uses it. */
export interface Claim {
  readonly amount: number;
  /** Says how much was used, and gives the rest back. To be called once. */
  settle(used: number): void;
}

/** The life of a count that expires, and the length of a window that processes share by. */
const windowMs = 5_000;
/** The part of a quota that is granted before the first count: most apps never write as much between two starts. */
const freePart = 1 / 1_000;
/** Claims and what grows along with them: rows and indexes may take up so many times the bytes of their JSON. */
const growth = 20;
/** Counts take at most a tenth of the time, however many claims fail. */
const restFactor = 10;
const maxRestMs = 1_000;

/**
 * The remainder of a quota. A process alone never grants more than is left, and counts again before it refuses. Several
 * processes share by windows of five seconds: each counts at its first claim in a window, and may grant its share of what
 * is left until the window ends. Only writes that are under way in other processes at that moment can exceed the quota.
 */
export class Remainder {
  readonly #options: RemainderOptions;
  #left = 0;
  /** What was left when it was counted, and what was granted since. */
  #leftThen = 0;
  #granted = 0;
  /** The quota of the last count. */
  #quota: number | undefined;
  #countedAt = 0;
  #countMs = 0;
  /** Claimed and not settled. */
  #claimed = 0;
  #counting: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(options: RemainderOptions) {
    this.#options = options;
  }

  /** True when it holds nothing but a count, and so may be dropped. */
  get isIdle(): boolean {
    return this.#claimed === 0 && this.#counting === undefined && this.#next === undefined;
  }

  /** Claims `max`, or all that is left when that is at least `min`. Undefined when less is left. */
  async take(quota: number, { min, max }: { min: number; max: number }): Promise<Claim | undefined> {
    const isFree = this.#isFree(quota, max);
    if (!isFree) {
      while (this.#counting !== undefined || this.#isStale(quota)) await this.#count(quota);
      if (this.#left < min && this.#options.isAlone) await this.#countAgain(quota);
      if (this.#left < min) return undefined;
    }
    // From here on without a wait: others must not be granted the same.
    const amount = isFree ? max : Math.min(this.#left, max);
    this.#left -= amount;
    this.#claimed += amount;
    this.#granted += amount;
    return {
      amount,
      settle: (used) => {
        this.#claimed -= amount;
        this.#left += amount - used;
      },
    };
  }

  /** True of a claim that is granted without a count. */
  #isFree(quota: number, max: number): boolean {
    const isCounted = this.#quota !== undefined || this.#counting !== undefined;
    return this.#options.leaks && !isCounted && this.#granted + max <= quota * freePart;
  }

  #isStale(quota: number): boolean {
    if (this.#quota !== quota) return true;
    const { isAlone, leaks, now } = this.#options;
    const age = now() - this.#countedAt;
    if (leaks) return age > windowMs && this.#granted * growth >= this.#leftThen;
    return !isAlone && windowAt(now()) !== windowAt(this.#countedAt);
  }

  #count(quota: number): Promise<void> {
    this.#counting ??= this.#readCount(quota).finally(() => this.#counting = undefined);
    return this.#counting;
  }

  async #readCount(quota: number): Promise<void> {
    const { count, now } = this.#options;
    const started = now();
    // The count may include these already. To grant too little until the next count does less harm than to grant too much.
    const claimed = this.#claimed;
    const used = await count();
    this.#left = this.#leftThen = this.#share(quota - used - claimed, started);
    this.#granted = 0;
    this.#quota = quota;
    this.#countedAt = started;
    this.#countMs = now() - started;
  }

  /** Counts once more for all claims that wait. The count begins after this call, since something may just have been deleted. */
  #countAgain(quota: number): Promise<void> {
    this.#next ??= this.#rest().then(() => {
      this.#next = undefined;
      return this.#count(quota);
    });
    return this.#next;
  }

  async #rest(): Promise<void> {
    await this.#counting?.catch(ignore('the claims that wait for the count get the error'));
    const rest = this.#countedAt + this.#countMs * restFactor - this.#options.now();
    if (rest > 0) await pause(Math.min(rest, maxRestMs));
  }

  #share(left: number, at: number): number {
    const { isAlone, workers, worker } = this.#options;
    if (isAlone || left <= 0) return left;
    // The indivisible rest goes to other workers in each window.
    const hasOneMore = (worker + windowAt(at)) % workers < left % workers;
    return Math.floor(left / workers) + (hasOneMore ? 1 : 0);
  }
}

function windowAt(time: number): number {
  return Math.floor(time / windowMs);
}
