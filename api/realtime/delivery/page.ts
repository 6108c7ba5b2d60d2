// Events in one buffer, frame behind frame, so that a log costs the garbage collector no objects.
import { type EventExtras, readEvent, type RecordEvent } from '../event.ts';

/** Consecutive events of a log. Events that it returns are copies of what is in its buffer. */
export class LogPage {
  readonly buffer: Buffer;
  readonly #first: number;
  /** The end of each frame in the buffer. */
  readonly #ends: number[] = [];
  /** The parts of events that are not in their frames, by the number of the event. */
  readonly #asides = new Map<number, EventExtras>();
  /** The events as they were read last, shared by subscribers that reconnect at the same time. */
  #read: WeakRef<RecordEvent[]> | undefined;

  /** `first` is the number of the first event. */
  constructor(first: number, buffer: Buffer) {
    this.#first = first;
    this.buffer = buffer;
  }

  /** The number of its last event. */
  get last(): number {
    return this.#first + this.#ends.length - 1;
  }

  /** Adds the next event; false when the buffer is full. */
  add({ frame, custom, deleted, record }: RecordEvent): boolean {
    const used = this.#startOf(this.#ends.length);
    if (used + frame.length > this.buffer.length) return false;
    this.#ends.push(used + frame.copy(this.buffer, used));
    if (custom !== undefined) this.#asides.set(this.last, { custom, deleted, record });
    else if (deleted !== undefined) this.#asides.set(this.last, { deleted });
    return true;
  }

  /** The events after a number, which must not be below the last dropped one. */
  after(seq: number): readonly RecordEvent[] {
    return seq >= this.last ? [] : this.#events().slice(Math.max(0, seq + 1 - this.#first));
  }

  /** Releases what is held of an event besides its frame, and returns its weight. */
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
