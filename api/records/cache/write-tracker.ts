// Which writes have begun, and which have not ended: what is remembered holds until one can have changed it.
import type { AppDefinition } from '../../../storage/definition.ts';
import { mayBeDone } from '../../../storage/errors.ts';

/** What a write may change. */
export interface Extent {
  /** Names of tables and the like (`dependencies.ts`), each of which counts its own writes. */
  names: readonly string[];
  /** Ids of records that were there before, where it is known which these are. */
  ids: readonly string[];
  /** In which app, if in one. */
  app?: AppDefinition | undefined;
}

/** The writes of one name. */
interface Ledger {
  /** The number of the last write that has begun. */
  last: number;
  underWay: number;
}

/** Names come and go with apps and collections. So many are kept, besides those of what is under way. */
const mostNames = 50_000;
/** Ids share so many ledgers: a write of one record also counts for the few others that fell to the same one. */
const sharedLedgers = 16_384;

/** The name of all records of an app. */
export function recordsOf({ schema }: AppDefinition): string {
  return schema;
}

/** A number that is another one for most ids: the end of a UUID is by chance. */
export function hashOf(id: string): number {
  return Number.parseInt(id.slice(-8), 16);
}

/** What a ledger depends on. */
export interface LedgerParts {
  /** Whether the app's declarations have not changed. */
  isCurrent(app: AppDefinition): boolean;
  /** Resolves once no write takes effect any more whose end nobody has heard of: of ours, or of a process before this one. */
  settled(): Promise<void>;
}

/** The writes of one process. That there are none besides is for those to know who go by it. */
export class WriteLedger {
  readonly #parts: LedgerParts;
  readonly #ledgers = new Map<string, Ledger>();
  /** By `hashOf`: the last write that has begun, and how many are under way. */
  readonly #lastOfIds = new Float64Array(sharedLedgers);
  readonly #underWayOfIds = new Uint32Array(sharedLedgers);
  #writes = 0;
  /** No write of a name that is not kept has begun since. */
  #lastForgotten = 0;
  /** Whether the process before this one may have left a write behind. */
  #isSettled = false;

  constructor(parts: LedgerParts) {
    this.#parts = parts;
    void parts.settled().then(() => this.#isSettled = true);
  }

  /** Runs what may write. Every write of records, and of what they hang on, goes through here. */
  async during<Result>({ names, ids, app }: Extent, write: () => Promise<Result>): Promise<Result> {
    const number = ++this.#writes;
    const ledgers = names.map((name) => this.#begin(name, number));
    const slots = ids.map(slotOf);
    for (const slot of slots) {
      this.#underWayOfIds[slot] = this.#underWay(slot) + 1;
      this.#lastOfIds[slot] = number;
    }
    try {
      return await write();
    } catch (error) {
      if (mayBeDone(error)) this.#doubt(ledgers, app);
      throw error;
    } finally {
      for (const ledger of ledgers) ledger.underWay--;
      for (const slot of slots) this.#underWayOfIds[slot] = this.#underWay(slot) - 1;
      // Relations that were declared meanwhile may have led to other records.
      if (app !== undefined && !this.#parts.isCurrent(app)) {
        this.#ledgerOf(recordsOf(app)).last = ++this.#writes;
      }
    }
  }

  /** Grows with every write to one of the names or to the record; undefined while one is under way. */
  stampOf(names: readonly string[], id?: string): number | undefined {
    if (!this.#isSettled) return undefined;
    let stamp = this.#lastForgotten;
    if (id !== undefined) {
      const slot = slotOf(id);
      if (this.#underWay(slot) > 0) return undefined;
      stamp = Math.max(stamp, this.#lastOfIds[slot] ?? 0);
    }
    for (const name of names) {
      const ledger = this.#ledgers.get(name);
      if (ledger === undefined) continue;
      if (ledger.underWay > 0) return undefined;
      stamp = Math.max(stamp, ledger.last);
    }
    return stamp;
  }

  #begin(name: string, number: number): Ledger {
    const ledger = this.#ledgerOf(name);
    ledger.underWay++;
    ledger.last = number;
    return ledger;
  }

  #underWay(slot: number): number {
    return this.#underWayOfIds[slot] ?? 0;
  }

  /** It counts as under way: without its connection nobody says how a statement ended, or when. */
  #doubt(ledgers: readonly Ledger[], app: AppDefinition | undefined): void {
    const all = app === undefined ? ledgers : [...ledgers, this.#ledgerOf(recordsOf(app))];
    for (const ledger of all) ledger.underWay++;
    void this.#parts.settled().then(() => {
      for (const ledger of all) ledger.underWay--;
    });
  }

  #ledgerOf(name: string): Ledger {
    const known = this.#ledgers.get(name);
    if (known !== undefined) return known;
    if (this.#ledgers.size >= mostNames) this.#forget();
    const ledger = { last: 0, underWay: 0 };
    this.#ledgers.set(name, ledger);
    return ledger;
  }

  #forget(): void {
    this.#lastForgotten = this.#writes;
    for (const [name, { underWay }] of this.#ledgers) if (underWay === 0) this.#ledgers.delete(name);
  }
}

function slotOf(id: string): number {
  return hashOf(id) & (sharedLedgers - 1);
}
