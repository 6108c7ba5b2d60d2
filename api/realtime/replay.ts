// The replay log: the last events of one collection, for subscribers that reconnect.
import type { Cursors } from './cursor.ts';
import { encodeEvent, type RecordChange, type RecordEvent } from './event.ts';
import { LogPage } from './delivery/page.ts';

/** The size of a log. The bytes are the weights of the events; pages that are not full may take as much again. */
export interface LogBounds {
  events: number;
  bytes: number;
}

interface LogOptions {
  /** Unique in the process, so that a cursor of one log is unknown to another. */
  number: number;
  cursors: Cursors;
  bounds: LogBounds;
}

/** Bytes of a page. The first pages are small, since most collections have few events. */
const pageBytes = { least: 2_048, most: 65_536 };

/** Numbers the changes of a collection and keeps the newest of them. */
export class ReplayLog {
  readonly #options: LogOptions;
  readonly #pages: LogPage[] = [];
  /** The buffer of a dropped page, to be used again. */
  #spare: Buffer | undefined;
  #bytes = 0;
  #newest = 0;
  /** The number of the last event that was dropped. */
  #floor = 0;

  constructor(options: LogOptions) {
    this.#options = options;
  }

  /** The number of the last event; 0 before the first. */
  get newest(): number {
    return this.#newest;
  }

  /** The weight of the events that are held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Appends a change, and drops the oldest events above a limit. */
  append(change: RecordChange): RecordEvent {
    const seq = this.#newest + 1;
    const event = encodeEvent(change, { seq, id: this.cursorAt(seq) });
    if (this.#pages.at(-1)?.add(event) !== true) this.#nextPage(event);
    this.#newest = seq;
    this.#bytes += event.weight;
    const { bounds } = this.#options;
    while (this.#length > bounds.events || (this.#bytes > bounds.bytes && this.#length > 0)) {
      this.#dropOldest();
    }
    return event;
  }

  /** The cursor of a subscriber that has seen everything up to an event. */
  cursorAt(seq: number): string {
    return this.#options.cursors.encode({ log: this.#options.number, seq });
  }

  /** The number of the event that a cursor stands at; undefined when the events after it are not all held. */
  locate(cursor: string): number | undefined {
    const place = this.#options.cursors.decode(cursor);
    if (place === undefined || place.log !== this.#options.number) return undefined;
    return place.seq <= this.#newest && place.seq >= this.#floor ? place.seq : undefined;
  }

  /** Events after a number, in order: at least one if there is any, then as many as fit; `dropped` when one of them is no longer held. */
  after(seq: number, maxBytes: number): RecordEvent[] | 'dropped' {
    if (seq < this.#floor) return 'dropped';
    const found: RecordEvent[] = [];
    let bytes = 0;
    for (const page of this.#pages) {
      for (const event of page.after(seq)) {
        bytes += event.frame.length;
        if (found.length > 0 && bytes > maxBytes) return found;
        found.push(event);
      }
    }
    return found;
  }

  /** Drops all events and leaves a gap behind them, so that whoever stands before it has missed something. */
  leaveGap(): void {
    while (this.#length > 0) this.#dropOldest();
    this.#floor = ++this.#newest;
  }

  /** Drops the older half of the events. */
  halve(): void {
    for (let left = Math.ceil(this.#length / 2); left > 0; left--) this.#dropOldest();
  }

  get #length(): number {
    return this.#newest - this.#floor;
  }

  #nextPage(event: RecordEvent): void {
    const page = new LogPage(event.seq, this.#bufferFor(event.frame.length));
    page.add(event);
    this.#pages.push(page);
  }

  #bufferFor(length: number): Buffer {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare !== undefined && spare.length >= length) return spare;
    return Buffer.allocUnsafeSlow(Math.max(length, pageBytes.least, Math.min(this.#bytes, pageBytes.most)));
  }

  #dropOldest(): void {
    const [page] = this.#pages;
    if (page === undefined) return;
    this.#floor++;
    this.#bytes -= page.drop(this.#floor);
    if (this.#floor < page.last) return;
    this.#pages.shift();
    if (page.buffer.length <= pageBytes.most) this.#spare = page.buffer;
  }
}
