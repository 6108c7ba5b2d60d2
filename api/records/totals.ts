// Totals of lists, remembered until a write can have made them wrong. Exact, or not remembered at all.
import { StorageError } from '../../storage/errors.ts';
import type { Count, Counted } from '../../storage/records/records.ts';
import { LruCache } from '../lru-cache.ts';

/** What a total depends on. */
export interface Basis {
  /** Whether every write to the tables goes through `during`. */
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
  /** Runs what may write to these tables. Every write of records, and of what they hang on, goes through here. */
  during<Result>(tables: readonly string[], write: () => Promise<Result>): Promise<Result>;
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

  during<Result>(_tables: readonly string[], write: () => Promise<Result>): Promise<Result> {
    return write();
  }
}

/** The writes to one table. */
interface Ledger {
  /** Grows with the beginning of each write, across all tables. */
  last: number;
  underWay: number;
  /** Until when a write whose end was not heard of may still take effect, in milliseconds since 1970. */
  unsureUntil: number;
}

/** No statement runs longer than 5 s, heard of or not: neither ours nor one of the process before this one. */
const settleMilliseconds = 6_000;

/** For the only process that writes to a cluster. */
export class RememberedTotals implements Totals {
  readonly #now: () => number;
  readonly #quietUntil: number;
  readonly #ledgers = new Map<string, Ledger>();
  readonly #totals = new LruCache<{ total: number; stamp: string }>(mostRemembered);
  /** For totals that depend on writes which nobody tells of. */
  readonly #others = new SnapshotTotals();
  #writes = 0;

  /** `settle`: how long nothing is remembered at first, in milliseconds; an earlier process may have left a write behind. */
  constructor({ now, settle = settleMilliseconds }: { now: () => number; settle?: number }) {
    this.#now = now;
    this.#quietUntil = now() + settle;
  }

  needsSnapshot(basis: Basis | undefined): boolean {
    return basis !== undefined && !basis.isHeard;
  }

  async of(question: Question, ask: () => Promise<Counted>): Promise<number> {
    const { count, basis } = question;
    if (basis === undefined || !basis.isHeard) return await this.#others.of(question, ask);
    const name = nameOf(count);
    const before = this.#stampOf(basis.tables);
    if (before === undefined || name === undefined) return (await ask()).total;
    const key = `${basis.versions}\n${name}`;
    const known = this.#totals.get(key);
    if (known?.stamp === before) return known.total;
    const { total } = await ask();
    // A write that began meanwhile may be in the total or not: nobody finds it under the stamp of before.
    this.#totals.set(key, { total, stamp: before });
    return total;
  }

  async during<Result>(tables: readonly string[], write: () => Promise<Result>): Promise<Result> {
    const ledgers = tables.map((table) => this.#ledgerOf(table));
    for (const ledger of ledgers) {
      ledger.underWay++;
      ledger.last = ++this.#writes;
    }
    try {
      return await write();
    } catch (error) {
      // Without its connection nobody says how a statement ended, or when.
      const heard = !(error instanceof StorageError) || error.failure !== 'unavailable';
      for (const ledger of heard ? [] : ledgers) ledger.unsureUntil = this.#now() + settleMilliseconds;
      throw error;
    } finally {
      for (const ledger of ledgers) ledger.underWay--;
    }
  }

  /** What is different after every write to one of the tables; undefined while one is under way. */
  #stampOf(tables: readonly string[]): string | undefined {
    const now = this.#now();
    if (now < this.#quietUntil) return undefined;
    let stamp = '';
    for (const table of tables) {
      const ledger = this.#ledgers.get(table);
      if (ledger !== undefined && (ledger.underWay > 0 || now < ledger.unsureUntil)) return undefined;
      stamp += `${ledger?.last ?? 0} `;
    }
    return stamp;
  }

  #ledgerOf(table: string): Ledger {
    const known = this.#ledgers.get(table);
    if (known !== undefined) return known;
    const ledger = { last: 0, underWay: 0, unsureUntil: 0 };
    this.#ledgers.set(table, ledger);
    return ledger;
  }
}
