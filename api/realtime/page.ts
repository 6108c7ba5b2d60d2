// Events in one buffer, frame behind frame: what a log holds makes no objects that the garbage collector has to look at.
import { type Aside, readEvent, type RecordEvent } from './event.ts';

/** Consecutive events of a log. The buffer is its own: what it gives out are copies. */
export class Page {
  readonly buffer: Buffer;
  readonly #first: number;
  /** Where each frame ends. */
  readonly #ends: number[] = [];
  /** What frames do not say, by the number of the event. */
  readonly #asides = new Map<number, Aside>();

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
  add({ frame, made, gone, record }: RecordEvent): boolean {
    const used = this.#ends.at(-1) ?? 0;
    if (used + frame.length > this.buffer.length) return false;
    this.#ends.push(used + frame.copy(this.buffer, used));
    if (made !== undefined) this.#asides.set(this.last, { made, gone, record });
    else if (gone !== undefined) this.#asides.set(this.last, { gone });
    return true;
  }

  /** An event that it holds. */
  at(seq: number): RecordEvent {
    return readEvent(Buffer.from(this.#frameOf(seq)), { seq, ...this.#asides.get(seq) });
  }

  /** Bytes of an event's frame. */
  sizeOf(seq: number): number {
    return this.#frameOf(seq).length;
  }

  /** Lets go of what is held of an event besides its frame; answers its weight. */
  forget(seq: number): number {
    const weight = this.sizeOf(seq) + (this.#asides.get(seq)?.gone?.bytes ?? 0);
    this.#asides.delete(seq);
    return weight;
  }

  #frameOf(seq: number): Buffer {
    const index = seq - this.#first;
    return this.buffer.subarray(this.#ends[index - 1] ?? 0, this.#ends[index]);
  }
}
