// The quota of streams for each principal, address and workspace.
import { fail } from '../errors.ts';
import type { Principal } from '../scope.ts';
import { quotaExceeded } from '../usage/quota.ts';
import type { StreamHolder, WorkspaceStreams } from './ports.ts';

/** The most streams of a principal and of an address. */
export interface StreamLimits {
  perPrincipal: number;
  perAddress: number;
}

/** The quota that one connection uses. Each of its subscriptions counts as a further stream of the same principal. */
export interface StreamClaim {
  /** Claims quota for a subscription. The returned function gives it back, once. Throws `429 too_many_requests`. */
  add(filter?: string): () => void;
  /** Moves the whole claim to another principal. Throws `429`; then nothing has changed. */
  move(principal: Principal): void;
  /** Gives the whole claim back. May be called more than once. */
  release(): void;
}

/**
 * Characters of a filter or a query that count as one more stream, because a long one takes up to 100 KiB of memory when
 * compiled.
 */
const charactersPerStream = 128;

const retryAfter = [['Retry-After', '10']] as const;

/** Counts the streams of a process by principal, address and workspace. */
export class StreamQuota {
  readonly #limits: StreamLimits;
  readonly #taken = new Map<string, number>();

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /**
   * Claims quota for a connection with the filter of its only subscription. Throws `429 too_many_requests`, and `429
   * quota_exceeded` for the workspace.
   */
  claim({ principal, address, query, workspace }: StreamHolder, filter = ''): StreamClaim {
    const { perAddress } = this.#limits;
    const within = workspace === undefined ? undefined : `workspace ${workspace.id}`;
    const at = `address ${address}`;
    let by = principal === null ? undefined : nameOf(principal);
    let held = 0;
    const count = (more: number) => {
      held += more;
      this.#add(at, more);
      this.#add(by, more);
      this.#add(within, more);
    };
    const another = (filter?: string) => {
      const more = 1 + Math.floor((filter?.length ?? 0) / charactersPerStream);
      if (this.#count(at) + more > perAddress) refuse(`an address holds at most ${perAddress} streams`);
      this.#require(by, more);
      this.#requireWithin(workspace, more);
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

  #requireWithin(workspace: WorkspaceStreams | undefined, more: number): void {
    if (workspace?.max === undefined) return;
    if (this.#count(`workspace ${workspace.id}`) + more > workspace.max) {
      throw quotaExceeded('quota.streams', workspace.max);
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
