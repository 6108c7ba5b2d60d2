// One connection that events go out on, whichever protocol it speaks.
import type { ApiError } from '../errors.ts';
import type { Packet } from './delivery/packet.ts';
import type { AuthorizedView, StreamHolder, SubscribeRequest } from './ports.ts';
import type { Sink } from './delivery/sink.ts';
import type { AppPath } from './topic.ts';

/** Why a whole stream ends, and what its holder is told. */
export interface StreamEnd {
  why: 'unauthorized' | 'policy' | 'shutdown' | 'done';
  message: string;
}

/** How a protocol says what streams have to say. */
export interface Wire {
  /** Whether the stream is its one subscription, and ends with it. */
  isSingle: boolean;
  /** Sent every 15 s; undefined for a protocol that keeps itself alive. */
  ping: Buffer | undefined;
  /** Events of a subscription, in pieces that may be shared. */
  events(packet: Packet, id: string): readonly Buffer[];
  /** Events were missed and are no longer held; `cursor` is where the stream goes on. */
  reset(id: string, cursor: string): Buffer;
  /**
   * The rule or filter of a subscription cannot be evaluated for an event, now or later, and `lost` follows: for clients
   * that come back on their own, how to do so without meeting the same event again. Undefined where clients do not.
   */
  failed(id: string, cursor: string): Buffer | undefined;
  /** A subscription is over; undefined when there is nothing to say. */
  lost(id: string, error: ApiError): Buffer | undefined;
  /** Says goodbye and closes; what still waits may go out before. */
  close(end: StreamEnd): void;
}

/** A subscription, as its stream knows it. */
export interface StreamMember {
  /** The client's name for it; empty on a stream with one subscription. */
  readonly id: string;
  readonly stream: Stream;
  /** What it asked for, under the principal that its stream has now. */
  readonly request: SubscribeRequest;
  /** See `View`. */
  readonly incarnation: string;
  /** Sends nothing, and loses nothing, until it is reviewed. */
  pause(): void;
  /** Goes on with this view, after `hold`. */
  resume(view: AuthorizedView): void;
  /** Takes no more events. */
  leave(): void;
}

interface StreamOptions {
  place: AppPath;
  holder: StreamHolder;
  sink: Sink;
  wire: Wire;
  /** When its first ping is due, by the hub's clock. */
  pingAt: number;
  /** Called once when the stream is over. */
  onGone: () => void;
}

/** A stream and its subscriptions. */
export class Stream {
  readonly place: AppPath;
  readonly wire: Wire;
  readonly sink: Sink;
  readonly subscriptions = new Map<string, StreamMember>();
  holder: StreamHolder;
  pingAt: number;
  /** When it was told to end, by the hub's clock; its connection may outlive that a little. */
  endingSince: number | undefined;
  readonly #onGone: () => void;
  #state: 'open' | 'ending' | 'closed' = 'open';

  constructor({ place, holder, sink, wire, pingAt, onGone }: StreamOptions) {
    this.place = place;
    this.holder = holder;
    this.sink = sink;
    this.wire = wire;
    this.pingAt = pingAt;
    this.#onGone = onGone;
  }

  /** Whether events still go out. */
  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Writes, or cuts the stream off when its reader is too far behind. */
  write(pieces: readonly Buffer[]): void {
    if (this.#state === 'open' && !this.sink.write(pieces)) this.cut();
  }

  /** Ends one subscription for a reason that its holder is told; the others go on. */
  lose(subscription: StreamMember, error: ApiError, now: number): void {
    if (this.subscriptions.get(subscription.id) !== subscription) return;
    subscription.leave();
    this.subscriptions.delete(subscription.id);
    const words = this.wire.lost(subscription.id, error);
    if (words !== undefined) this.write([words]);
    if (this.wire.isSingle) this.end({ why: 'done', message: error.message }, now);
  }

  /** Ends the stream in the protocol's words. */
  end(reason: StreamEnd, now: number): void {
    if (this.#state !== 'open') return;
    this.#leaveAll();
    this.#state = 'ending';
    this.endingSince = now;
    this.wire.close(reason);
  }

  /** Closes the connection at once. */
  cut(): void {
    this.sink.cut();
    this.closed();
  }

  /** To be called when the connection has closed, for whatever reason. */
  closed(): void {
    if (this.#state === 'closed') return;
    this.#leaveAll();
    this.#state = 'closed';
    this.#onGone();
  }

  #leaveAll(): void {
    for (const subscription of this.subscriptions.values()) subscription.leave();
    this.subscriptions.clear();
  }
}
