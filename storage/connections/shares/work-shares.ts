// The share of each workspace in the connections at work: less of it is for slow statements while others work too.
import { availableParallelism } from 'node:os';
import { PermitCount, type Permits } from '../permits.ts';
import { StatementCost } from './statement-cost.ts';

/** The share of one workspace. */
export interface WorkShare {
  /** Of connections at work. */
  permits: Permits;
  cost: StatementCost;
}

/** Longer than a statement takes: even beside apps that use the whole share, a waiter gets its turn. */
const timeoutMs = 10_000;
/** Statements that keep a core busy gain nothing when there are more of them than cores, but keep others from a core. */
const maxSlow = Math.max(2, availableParallelism());
/** A workspace counts as working for so long after a statement, in milliseconds. */
const presentMs = 1_000;

/** The shares of all workspaces, by the names of their databases. */
export class WorkShares {
  readonly #maxAtWork: number;
  readonly #shares = new Map<string, WorkShare>();
  /** The workspace that worked last, when, and when another one did. */
  #last: string | undefined;
  #lastAt = -Infinity;
  #otherAt = -Infinity;

  constructor(maxAtWork: number) {
    this.#maxAtWork = maxAtWork;
  }

  /** The share of a workspace. */
  of(database: string): WorkShare {
    const known = this.#shares.get(database);
    if (known !== undefined) return known;
    const cost = new StatementCost();
    const count = () =>
      cost.isSlow && this.#isContended(database) ? Math.min(maxSlow, this.#maxAtWork) : this.#maxAtWork;
    const share = { cost, permits: new PermitCount({ count, timeoutMs }) };
    this.#shares.set(database, share);
    return share;
  }

  /** Notes that a workspace works. */
  note(database: string): void {
    if (database !== this.#last) {
      this.#otherAt = this.#lastAt;
      this.#last = database;
    }
    this.#lastAt = performance.now();
  }

  /** Removes that of a workspace that is deleted. */
  delete(database: string): void {
    this.#shares.delete(database);
  }

  /** True when another workspace than this one works. */
  #isContended(database: string): boolean {
    const at = database === this.#last ? this.#otherAt : this.#lastAt;
    return performance.now() - at < presentMs;
  }
}
