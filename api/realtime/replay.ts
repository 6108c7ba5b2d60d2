// The last events of one collection, for subscribers who were away.
import type { Cursors } from './cursor.ts';
import { encodeEvent, type RecordChange, type RecordEvent } from './event.ts';

/** How much a log holds. The bytes are the events' weights; the records beside the frames take about as much again. */
export interface LogBounds {
  events: number;
  bytes: number;
}

interface LogOptions {
  /** Different for each log of the process, so that a cursor of one means nothing to another. */
  number: number;
  cursors: Cursors;
  bounds: LogBounds;
}

/** Dropped events are cleared from the front of the array once there are this many. */
const compaction = 1_024;

/** Gives the changes of a collection their order and keeps the newest of them. */
export class ReplayLog {
  readonly #options: LogOptions;
  #events: (RecordEvent | undefined)[] = [];
  /** Index in `#events` of the oldest event that is held. */
  #head = 0;
  #bytes = 0;
  #newest = 0;

  constructor(options: LogOptions) {
    this.#options = options;
  }

  /** Number of the last event; 0 before the first. */
  get newest(): number {
    return this.#newest;
  }

  /** Weight of the events that are held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes a change in; forgets the oldest where a bound is passed. */
  append(change: RecordChange): RecordEvent {
    const seq = this.#newest + 1;
    const event = encodeEvent(change, { seq, id: this.cursorAt(seq) });
    this.#newest = seq;
    this.#events.push(event);
    this.#bytes += event.weight;
    const { bounds } = this.#options;
    while (this.#length > bounds.events || (this.#bytes > bounds.bytes && this.#length > 0)) {
      this.#dropOldest();
    }
    return event;
  }

  /** The cursor of whoever has seen everything up to an event. */
  cursorAt(seq: number): string {
    return this.#options.cursors.encode({ log: this.#options.number, seq });
  }

  /** The number of the last event that the holder of a cursor has seen; undefined when what follows is not held. */
  locate(cursor: string): number | undefined {
    const place = this.#options.cursors.decode(cursor);
    if (place === undefined || place.log !== this.#options.number) return undefined;
    return place.seq <= this.#newest && place.seq >= this.#floor ? place.seq : undefined;
  }

  /** Events after a number, in order: at least one if there is any, then as many as fit; `gone` when one is missing. */
  after(seq: number, maximalBytes: number): RecordEvent[] | 'gone' {
    if (seq < this.#floor) return 'gone';
    const found: RecordEvent[] = [];
    let bytes = 0;
    for (let index = this.#head + seq - this.#floor; index < this.#events.length; index++) {
      const event = this.#events[index];
      if (event === undefined) break;
      bytes += event.frame.length;
      if (found.length > 0 && bytes > maximalBytes) break;
      found.push(event);
    }
    return found;
  }

  /** Forgets the older half, when all logs together hold too much. */
  halve(): void {
    for (let left = Math.ceil(this.#length / 2); left > 0; left--) this.#dropOldest();
  }

  get #length(): number {
    return this.#events.length - this.#head;
  }

  /** Number of the newest event that is no longer held. */
  get #floor(): number {
    return this.#newest - this.#length;
  }

  #dropOldest(): void {
    this.#bytes -= this.#events[this.#head]?.weight ?? 0;
    this.#events[this.#head] = undefined;
    this.#head++;
    if (this.#head < compaction || this.#head * 2 < this.#events.length) return;
    this.#events = this.#events.slice(this.#head);
    this.#head = 0;
  }
}
