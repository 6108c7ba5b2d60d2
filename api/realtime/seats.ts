// How many streams one principal and one address may hold.
import { fail } from '../errors.ts';
import type { Principal } from '../scope.ts';
import type { Holder } from './ports.ts';

/** The caps. */
export interface SeatLimits {
  perPrincipal: number;
  perAddress: number;
}

/** One stream's place. */
export interface Seat {
  /** Counts it for another principal from now on. Throws `429`, and then nothing has changed. */
  move(principal: Principal): void;
  /** Gives it back; again is harmless. */
  release(): void;
}

const retryAfter = [['Retry-After', '10']] as const;

/** Counts the streams of a process. */
export class Seats {
  readonly #limits: SeatLimits;
  readonly #taken = new Map<string, number>();

  constructor(limits: SeatLimits) {
    this.#limits = limits;
  }

  /** Takes a seat. Throws `429 too_many_requests`. */
  take({ principal, address }: Holder): Seat {
    const { perAddress } = this.#limits;
    const at = `address ${address}`;
    if (this.#count(at) >= perAddress) refuse(`this address holds ${perAddress} streams`);
    let by = principal === null ? undefined : this.#takeFor(principal);
    this.#taken.set(at, this.#count(at) + 1);
    let isHeld = true;
    return {
      move: (next) => {
        if (!isHeld || nameOf(next) === by) return;
        const taken = this.#takeFor(next);
        if (by !== undefined) this.#giveBack(by);
        by = taken;
      },
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#giveBack(at);
        if (by !== undefined) this.#giveBack(by);
      },
    };
  }

  #takeFor(principal: Principal): string {
    const { perPrincipal } = this.#limits;
    const by = nameOf(principal);
    if (this.#count(by) >= perPrincipal) refuse(`this principal holds ${perPrincipal} streams`);
    this.#taken.set(by, this.#count(by) + 1);
    return by;
  }

  #count(name: string): number {
    return this.#taken.get(name) ?? 0;
  }

  #giveBack(name: string): void {
    const left = this.#count(name) - 1;
    if (left === 0) this.#taken.delete(name);
    else this.#taken.set(name, left);
  }
}

function nameOf({ role, workspace = '', id }: Principal): string {
  return `${role} ${workspace} ${id}`;
}

function refuse(what: string): never {
  fail('too_many_requests', `${what} already, which is the most; close one first`, retryAfter);
}
