// What is left below one quota, as one process knows it: counted now and then, taken from with every write in between.
import { setTimeout as pause } from 'node:timers/promises';

/** Whom the room is shared with. */
export interface Sharing {
  /** Whether nobody else takes from it: then what is left is known exactly between two counts. */
  isAlone: boolean;
  /** Processes that take from it, and which of them this is, from 0. */
  workers: number;
  worker: number;
}

/** How it is known what is taken. */
export interface RemainderOptions extends Sharing {
  /** What everybody has taken by now. */
  count: () => Promise<number>;
  /** Whether other things than `take` make it less, so that a count is good for some seconds only. */
  leaks: boolean;
  now: () => number;
}

/** A part of the room, taken before what will fill it is there. */
export interface Claim {
  readonly amount: number;
  /** What became of it: so much is filled, the rest is given back. To be called once. */
  settle(filled: number): void;
}

/** How long a count is good for, where it grows old; and how long a share is. */
const freshMs = 5_000;
/** Counting takes at most a tenth of the time, however many want what is not there. */
const restFactor = 10;
const maxRestMs = 1_000;

/**
 * Room below a maximum. Alone, a process never hands out more than there is, and looks again before it refuses. Several
 * share by the clock: at the first claim within five seconds each counts, and may hand out its share of what is left
 * until they are over; only writes that are under way elsewhere at that moment can come on top.
 */
export class Remainder {
  readonly #options: RemainderOptions;
  #left = 0;
  #most: number | undefined;
  #countedAt = 0;
  #took = 0;
  /** Claimed and not settled. */
  #underWay = 0;
  #counting: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(options: RemainderOptions) {
    this.#options = options;
  }

  /** Whether nothing would be lost with it but a count. */
  get isIdle(): boolean {
    return this.#underWay === 0 && this.#counting === undefined && this.#next === undefined;
  }

  /** Takes `most` of the room below `below`, or what there is of it when that is at least `least`; undefined otherwise. */
  async take(below: number, { least, most }: { least: number; most: number }): Promise<Claim | undefined> {
    while (this.#counting !== undefined || this.#isDue(below)) await this.#count(below);
    if (this.#left < least && this.#options.isAlone) await this.#countAfresh(below);
    if (this.#left < least) return undefined;
    const amount = Math.min(this.#left, most);
    this.#left -= amount;
    this.#underWay += amount;
    return {
      amount,
      settle: (filled) => {
        this.#underWay -= amount;
        this.#left += amount - filled;
      },
    };
  }

  #isDue(below: number): boolean {
    if (this.#most !== below) return true;
    const { isAlone, leaks, now } = this.#options;
    if (!isAlone) return spanOf(now()) !== spanOf(this.#countedAt);
    return leaks && now() - this.#countedAt > freshMs;
  }

  #count(below: number): Promise<void> {
    this.#counting ??= this.#look(below).finally(() => this.#counting = undefined);
    return this.#counting;
  }

  async #look(below: number): Promise<void> {
    const { count, now } = this.#options;
    const started = now();
    // Counted already or not: room that is missing until the next count does less harm than room that is not there.
    const underWay = this.#underWay;
    const taken = await count();
    this.#left = this.#shareOf(below - taken - underWay, started);
    this.#most = below;
    this.#countedAt = started;
    this.#took = now() - started;
  }

  /** A count that begins after this was called: something may just have gone. One for all who wait. */
  #countAfresh(below: number): Promise<void> {
    this.#next ??= this.#rested().then(() => {
      this.#next = undefined;
      return this.#count(below);
    });
    return this.#next;
  }

  async #rested(): Promise<void> {
    await this.#counting?.catch(() => 'whoever waits for it hears of it');
    const rest = this.#countedAt + this.#took * restFactor - this.#options.now();
    if (rest > 0) await pause(Math.min(rest, maxRestMs));
  }

  #shareOf(left: number, at: number): number {
    const { isAlone, workers, worker } = this.#options;
    if (isAlone || left <= 0) return left;
    // What cannot be divided goes round.
    const isFavoured = (worker + spanOf(at)) % workers < left % workers;
    return Math.floor(left / workers) + (isFavoured ? 1 : 0);
  }
}

function spanOf(milliseconds: number): number {
  return Math.floor(milliseconds / freshMs);
}
