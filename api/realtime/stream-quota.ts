// How many streams one principal and one address may hold.
import { fail } from '../errors.ts';
import type { Principal } from '../scope.ts';
import type { StreamHolder } from './ports.ts';

/** The caps. */
export interface StreamLimits {
  perPrincipal: number;
  perAddress: number;
}

/** One connection's place. What it holds besides counts as other streams, for the same principal. */
export interface StreamClaim {
  /** Takes what a subscription counts; what is returned gives that back, once. Throws `429 too_many_requests`. */
  add(filter?: string): () => void;
  /** Counts all of it for another principal from now on. Throws `429`, and then nothing has changed. */
  move(principal: Principal): void;
  /** Gives all of it back; again is harmless. */
  release(): void;
}

/**
 * A filter, or a query, of so many characters counts as one stream more: what is made of a long one takes up to 100 KiB, for as
 * long as it is subscribed to.
 */
const charactersPerStream = 128;

const retryAfter = [['Retry-After', '10']] as const;

/** Counts the streams of a process. */
export class StreamQuota {
  readonly #limits: StreamLimits;
  readonly #taken = new Map<string, number>();

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /** Takes a seat for a connection, with the filter of its only subscription. Throws `429 too_many_requests`. */
  claim({ principal, address, query }: StreamHolder, filter = ''): StreamClaim {
    const { perAddress } = this.#limits;
    const at = `address ${address}`;
    let by = principal === null ? undefined : nameOf(principal);
    let held = 0;
    const count = (more: number) => {
      held += more;
      this.#add(at, more);
      this.#add(by, more);
    };
    const another = (filter?: string) => {
      const more = 1 + Math.floor((filter?.length ?? 0) / charactersPerStream);
      if (this.#count(at) + more > perAddress) refuse(`an address holds at most ${perAddress} streams`);
      this.#require(by, more);
      count(more);
      let isHeld = true;
      return () => {
        if (!isHeld || held === 0) return;
        isHeld = false;
        count(-more);
      };
    };
    another(Object.entries(query).flat().join('') + filter);
    return {
      add: another,
      move: (next) => {
        const name = nameOf(next);
        if (name === by) return;
        this.#require(name, held);
        this.#add(by, -held);
        this.#add(name, held);
        by = name;
      },
      release: () => count(-held),
    };
  }

  #require(by: string | undefined, more: number): void {
    const { perPrincipal } = this.#limits;
    if (by !== undefined && this.#count(by) + more > perPrincipal) {
      refuse(`a principal holds at most ${perPrincipal} streams`);
    }
  }

  #count(name: string): number {
    return this.#taken.get(name) ?? 0;
  }

  #add(name: string | undefined, more: number): void {
    if (name === undefined) return;
    const sum = this.#count(name) + more;
    if (sum === 0) this.#taken.delete(name);
    else this.#taken.set(name, sum);
  }
}

function nameOf({ role, workspace = '', id }: Principal): string {
  return `${role} ${workspace} ${id}`;
}

function refuse(what: string): never {
  fail(
    'too_many_requests',
    `${what}, of which a long filter or query counts as several; close some first`,
    retryAfter,
  );
}
