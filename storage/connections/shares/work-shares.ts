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
/** While a workspace has to wait for its slow statements, that is reported so often, in milliseconds. */
const reportMs = 60_000;
/** A workspace counts as working for so long after a statement, in milliseconds. */
const presentMs = 1_000;

/** The shares of all workspaces, by the names of their databases. */
export class WorkShares {
  readonly #maxAtWork: number;
  readonly #onSlow: (database: string) => void;
  readonly #shares = new Map<string, WorkShare>();
  /** The workspace that worked last, when, and when another one did. */
  #last: string | undefined;
  #lastAt = -Infinity;
  #otherAt = -Infinity;

  /** `onSlow` is called with the database of a workspace whose statements have to wait, since slow ones have its share. */
  constructor(maxAtWork: number, onSlow: (database: string) => void = () => undefined) {
    this.#maxAtWork = maxAtWork;
    this.#onSlow = onSlow;
  }

  /** The share of a workspace. */
  of(database: string): WorkShare {
    const known = this.#shares.get(database);
    if (known !== undefined) return known;
    const cost = new StatementCost();
    const isBounded = () => cost.isSlow && this.#isContended(database);
    const count = () => isBounded() ? Math.min(maxSlow, this.#maxAtWork) : this.#maxAtWork;
    let reportedAt = -Infinity;
    const reclaim = () => {
      const now = performance.now();
      if (now - reportedAt < reportMs || !isBounded()) return;
      reportedAt = now;
      this.#onSlow(database);
    };
    const share = { cost, permits: new PermitCount({ count, timeoutMs, reclaim }) };
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
