// Events that go out in one write, joined once for all streams that get the same.
import type { RecordEvent } from '../event.ts';
import type { RelatedByReader } from '../visibility/related-reads.ts';

const maxVariants = 16;
/** Size from which an event is not copied to be joined with others, because it may have to wait for many readers. */
const largeBytes = 16_384;

/** Some events in order, in one write. */
export class Packet {
  readonly events: readonly RecordEvent[];
  #frames: readonly Buffer[] | undefined;
  #variants: Map<string, readonly Buffer[]> | undefined;

  constructor(events: readonly RecordEvent[]) {
    this.events = events;
  }

  /** The Server-Sent Events, joined. */
  get frames(): readonly Buffer[] {
    this.#frames ??= join(this.events.map(({ frame }) => frame));
    return this.#frames;
  }

  /** The bytes for a subscription id. Those of the first ids are shared by all streams that use the same id. */
  variant(name: string, make: (event: RecordEvent) => readonly Buffer[]): readonly Buffer[] {
    const known = this.#variants?.get(name);
    if (known !== undefined) return known;
    const bytes = join(this.events.flatMap(make));
    this.#variants ??= new Map();
    if (this.#variants.size < maxVariants) this.#variants.set(name, bytes);
    return bytes;
  }
}

/** Events of one collection that are delivered in the same turn. */
export interface EventBatch {
  events: readonly RecordEvent[];
  /** The sequence number of its last event. */
  last: number;
  /** The size of their frames, in bytes. */
  bytes: number;
  /** The packet of all events, for views that pass them all. */
  whole: Packet;
  /** The related records that views need, once they have been read. */
  related?: RelatedByReader | undefined;
}

/** Makes a batch of at least one event. */
export function batchOf(events: readonly RecordEvent[]): EventBatch {
  const bytes = events.reduce((sum, { frame }) => sum + frame.length, 0);
  return { events, last: events.at(-1)?.seq ?? 0, bytes, whole: new Packet(events) };
}

function join(parts: readonly Buffer[]): readonly Buffer[] {
  if (parts.length === 1) return parts;
  const joined: Buffer[] = [];
  let small: Buffer[] = [];
  for (const part of parts) {
    if (part.length < largeBytes) {
      small.push(part);
      continue;
    }
    if (small.length > 0) joined.push(Buffer.concat(small));
    small = [];
    joined.push(part);
  }
  if (small.length > 0) joined.push(Buffer.concat(small));
  return joined;
}
