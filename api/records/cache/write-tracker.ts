// The writes of one process: which have begun, and which have not ended. A cached value holds until one can have changed it.
import type { AppDefinition } from '../../../storage/definition.ts';
import { mayBeDone } from '../../../storage/errors.ts';
import { allRecordsName } from './tracked-names.ts';
import type { WriteSet } from './write-set.ts';

/** The writes of one name. */
interface Counter {
  /** The number of the last write that has begun. */
  last: number;
  underWay: number;
}

/** Names come and go with apps and collections. So many have counters, besides those of writes that are under way. */
const maxNames = 50_000;
/** Ids share so many counters: a write of one record also counts for the few others that fell to the same one. */
const idCounters = 16_384;

/** A number that is another one for most ids: the end of a UUID is random. */
export function hashOf(id: string): number {
  return Number.parseInt(id.slice(-8), 16);
}

/** The dependencies of a tracker. */
export interface TrackerParts {
  /** True when the definition of the app has not changed. */
  isCurrent(app: AppDefinition): boolean;
  /**
   * Resolves once no write takes effect any more whose end was never reported: of this process, or of the one before it.
   */
  settled(): Promise<void>;
}

/** Tracks the writes of one process. Its versions are exact only where no other process writes. */
export class WriteTracker {
  readonly #parts: TrackerParts;
  readonly #counters = new Map<string, Counter>();
  /** By `hashOf`: the number of the last write that has begun, and how many are under way. */
  readonly #lastOfIds = new Float64Array(idCounters);
  readonly #underWayOfIds = new Uint32Array(idCounters);
  #writes = 0;
  /** No write of a name without a counter has begun since this one. */
  #lastDropped = 0;
  /** False while the process before this one may have left a write behind. */
  #isSettled = false;

  constructor(parts: TrackerParts) {
    this.#parts = parts;
    void parts.settled().then(() => this.#isSettled = true);
  }

  /** Runs a write. Throws what it throws. */
  async track<Result>({ names, ids, app }: WriteSet, write: () => Promise<Result>): Promise<Result> {
    const number = ++this.#writes;
    const counters = names.map((name) => this.#begin(name, number));
    const slots = ids.map(slotOf);
    for (const slot of slots) {
      this.#underWayOfIds[slot] = this.#underWay(slot) + 1;
      this.#lastOfIds[slot] = number;
    }
    try {
      return await write();
    } catch (error) {
      if (mayBeDone(error)) this.#doubt(counters, app);
      throw error;
    } finally {
      for (const counter of counters) counter.underWay--;
      for (const slot of slots) this.#underWayOfIds[slot] = this.#underWay(slot) - 1;
      // Relations that were declared meanwhile may have led to other records.
      if (app !== undefined && !this.#parts.isCurrent(app)) {
        this.#counterOf(allRecordsName(app)).last = ++this.#writes;
      }
    }
  }

  /** A number that grows with every write to one of the names or to the record; undefined while one is under way. */
  versionOf(names: readonly string[], id?: string): number | undefined {
    if (!this.#isSettled) return undefined;
    let version = this.#lastDropped;
    if (id !== undefined) {
      const slot = slotOf(id);
      if (this.#underWay(slot) > 0) return undefined;
      version = Math.max(version, this.#lastOfIds[slot] ?? 0);
    }
    for (const name of names) {
      const counter = this.#counters.get(name);
      if (counter === undefined) continue;
      if (counter.underWay > 0) return undefined;
      version = Math.max(version, counter.last);
    }
    return version;
  }

  #begin(name: string, number: number): Counter {
    const counter = this.#counterOf(name);
    counter.underWay++;
    counter.last = number;
    return counter;
  }

  #underWay(slot: number): number {
    return this.#underWayOfIds[slot] ?? 0;
  }

  /** It counts as under way: once its connection is lost, nothing says how a statement ended, or when. */
  #doubt(counters: readonly Counter[], app: AppDefinition | undefined): void {
    const all = app === undefined ? counters : [...counters, this.#counterOf(allRecordsName(app))];
    for (const counter of all) counter.underWay++;
    void this.#parts.settled().then(() => {
      for (const counter of all) counter.underWay--;
    });
  }

  #counterOf(name: string): Counter {
    const known = this.#counters.get(name);
    if (known !== undefined) return known;
    if (this.#counters.size >= maxNames) this.#dropIdle();
    const counter = { last: 0, underWay: 0 };
    this.#counters.set(name, counter);
    return counter;
  }

  #dropIdle(): void {
    this.#lastDropped = this.#writes;
    for (const [name, { underWay }] of this.#counters) if (underWay === 0) this.#counters.delete(name);
  }
}

function slotOf(id: string): number {
  return hashOf(id) & (idCounters - 1);
}
