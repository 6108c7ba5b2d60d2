// Totals of lists, remembered until a write can have made them wrong. Exact, or not remembered at all.
import { StorageError } from '../../storage/errors.ts';
import type { Count } from '../../storage/records.ts';

/** What a total depends on. */
export interface Basis {
  tables: readonly string[];
  /** The versions of the definitions that the tables have. */
  versions: string;
}

/** Remembers totals, as far as that is safe. */
export interface Totals {
  /** The total of a count. Without a basis it depends on something that nobody keeps count of. */
  of(count: Count, basis: Basis | undefined, ask: () => Promise<number>): Promise<number>;
  /** Runs what may write to these tables. Every write of records, and of what they hang on, goes through here. */
  during<Result>(tables: readonly string[], write: () => Promise<Result>): Promise<Result>;
}

/** For a process that is not the only one to write: it cannot know when a total has become wrong. */
export const countAlways: Totals = {
  of: (_count, _basis, ask) => ask(),
  during: (_tables, write) => write(),
};

/** The writes to one table. */
interface Ledger {
  /** Grows with the beginning of each write, across all tables. */
  last: number;
  underWay: number;
  /** Until when a write whose end was not heard of may still take effect, in milliseconds since 1970. */
  unsureUntil: number;
}

const remembered = 4_096;
const longestParameters = 2_048;
/** No statement runs longer than 5 s, heard of or not: neither ours nor one of the process before this one. */
const settleMilliseconds = 6_000;

/** For the only process that writes to a cluster. */
export class RememberedTotals implements Totals {
  readonly #now: () => number;
  readonly #quietUntil: number;
  readonly #ledgers = new Map<string, Ledger>();
  readonly #totals = new Map<string, { total: number; stamp: string }>();
  #writes = 0;

  /** `settle`: how long nothing is remembered at first, in milliseconds; an earlier process may have left a write behind. */
  constructor({ now, settle = settleMilliseconds }: { now: () => number; settle?: number }) {
    this.#now = now;
    this.#quietUntil = now() + settle;
  }

  async of(
    count: Count,
    basis: Basis | undefined,
    ask: () => Promise<number>,
  ): Promise<number> {
    const parameters = JSON.stringify(count.params);
    const before = basis === undefined ? undefined : this.#stampOf(basis.tables);
    if (basis === undefined || before === undefined || parameters.length > longestParameters) {
      return await ask();
    }
    const key = `${basis.versions}\n${count.text}\n${parameters}`;
    const known = this.#totals.get(key);
    if (known?.stamp === before) {
      this.#remember(key, known);
      return known.total;
    }
    const total = await ask();
    // A write that began meanwhile may be in the total or not.
    if (this.#stampOf(basis.tables) === before) this.#remember(key, { total, stamp: before });
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

  /** The map is in the order of use: what was used longest ago is first. */
  #remember(key: string, entry: { total: number; stamp: string }): void {
    this.#totals.delete(key);
    this.#totals.set(key, entry);
    const oldest = this.#totals.size > remembered ? this.#totals.keys().next().value : undefined;
    if (oldest !== undefined) this.#totals.delete(oldest);
  }
}
