// Totals of lists, remembered until a write can have made them wrong. Exact, or not remembered at all.
import type { Count, Counted } from '../../../storage/app/records/records.ts';
import { LruCache } from '../../process/lru-cache.ts';
import type { WriteLedger } from './write-tracker.ts';

/** What a total depends on. */
export interface Basis {
  /** Whether every write to the tables is in the ledger. */
  isHeard: boolean;
  tables: readonly string[];
  /** The versions of the definitions that the tables have. */
  versions: string;
}

/** Which total. */
export interface Question {
  count: Count;
  /** Without one it depends on something that nobody keeps count of. */
  basis: Basis | undefined;
  /** What the list saw that the total is for, if it was asked to say so. */
  snapshot: string | undefined;
}

/** Remembers totals, as far as that is safe. */
export interface Totals {
  /** Whether a list should say what it saw, so that its total can be remembered. */
  needsSnapshot(basis: Basis | undefined): boolean;
  of(question: Question, ask: () => Promise<Counted>): Promise<number>;
}

const longestParameters = 2_048;
const mostRemembered = 4_096;

/** What tells a count from all others; undefined when it is too long to be remembered. */
function nameOf({ text, params }: Count): string | undefined {
  const parameters = JSON.stringify(params);
  return parameters.length > longestParameters ? undefined : `${text}\n${parameters}`;
}

/**
 * For a process that is not the only one to write: a total holds for every statement that sees exactly the same of the
 * server's databases, so whoever writes to any of them ends it, without a word.
 */
export class SnapshotTotals implements Totals {
  readonly #totals = new LruCache<Counted>(mostRemembered);

  needsSnapshot(basis: Basis | undefined): boolean {
    return basis !== undefined;
  }

  async of({ count, basis, snapshot }: Question, ask: () => Promise<Counted>): Promise<number> {
    const name = basis === undefined ? undefined : nameOf(count);
    if (name === undefined) return (await ask()).total;
    const known = this.#totals.get(name);
    if (known !== undefined && known.snapshot === snapshot) return known.total;
    const counted = await ask();
    this.#totals.set(name, counted);
    return counted.total;
  }
}

/** For the only process that writes to a cluster. */
export class RememberedTotals implements Totals {
  readonly #writes: WriteLedger;
  readonly #totals = new LruCache<{ total: number; stamp: number }>(mostRemembered);
  /** For totals that depend on writes which nobody tells of. */
  readonly #others = new SnapshotTotals();

  constructor(writes: WriteLedger) {
    this.#writes = writes;
  }

  needsSnapshot(basis: Basis | undefined): boolean {
    return basis !== undefined && !basis.isHeard;
  }

  async of(question: Question, ask: () => Promise<Counted>): Promise<number> {
    const { count, basis } = question;
    if (basis === undefined || !basis.isHeard) return await this.#others.of(question, ask);
    const name = nameOf(count);
    const before = this.#writes.stampOf(basis.tables);
    if (before === undefined || name === undefined) return (await ask()).total;
    const key = `${basis.versions}\n${name}`;
    const known = this.#totals.get(key);
    if (known?.stamp === before) return known.total;
    const { total } = await ask();
    // A write that began meanwhile may be in the total or not: nobody finds it under the stamp of before.
    this.#totals.set(key, { total, stamp: before });
    return total;
  }
}
