// Events in one buffer, frame behind frame: what a log holds makes no objects that the garbage collector has to look at.
import { type EventExtras, readEvent, type RecordEvent } from '../event.ts';

/** Consecutive events of a log. The buffer is its own: what it gives out are copies. */
export class LogPage {
  readonly buffer: Buffer;
  readonly #first: number;
  /** Where each frame ends. */
  readonly #ends: number[] = [];
  /** What frames do not say, by the number of the event. */
  readonly #asides = new Map<number, EventExtras>();
  /** Its first events as they were read last: subscribers who come back together share them. */
  #read: WeakRef<RecordEvent[]> | undefined;

  /** `first`: the number of the event that is to come first. */
  constructor(first: number, buffer: Buffer) {
    this.#first = first;
    this.buffer = buffer;
  }

  /** Number of its last event. */
  get last(): number {
    return this.#first + this.#ends.length - 1;
  }

  /** Takes the next event in; false when there is no room for it. */
  add({ frame, custom, deleted, record }: RecordEvent): boolean {
    const used = this.#startOf(this.#ends.length);
    if (used + frame.length > this.buffer.length) return false;
    this.#ends.push(used + frame.copy(this.buffer, used));
    if (custom !== undefined) this.#asides.set(this.last, { custom, deleted, record });
    else if (deleted !== undefined) this.#asides.set(this.last, { deleted });
    return true;
  }

  /** Its events after a number. Those that were forgotten are not to be asked for. */
  after(seq: number): readonly RecordEvent[] {
    return seq >= this.last ? [] : this.#events().slice(Math.max(0, seq + 1 - this.#first));
  }

  /** Lets go of what is held of an event besides its frame; answers its weight. */
  drop(seq: number): number {
    const index = seq - this.#first;
    const weight = this.#startOf(index + 1) - this.#startOf(index) +
      (this.#asides.get(seq)?.deleted?.bytes ?? 0);
    this.#asides.delete(seq);
    return weight;
  }

  #events(): readonly RecordEvent[] {
    const events = this.#read?.deref() ?? [];
    if (events.length === this.#ends.length) return events;
    const from = this.#startOf(events.length);
    const copy = Buffer.from(this.buffer.subarray(from, this.#ends.at(-1)));
    for (let index = events.length; index < this.#ends.length; index++) {
      const frame = copy.subarray(this.#startOf(index) - from, this.#startOf(index + 1) - from);
      const seq = this.#first + index;
      events.push(readEvent(frame, { seq, ...this.#asides.get(seq) }));
    }
    this.#read = new WeakRef(events);
    return events;
  }

  #startOf(index: number): number {
    return this.#ends[index - 1] ?? 0;
  }
}
