// A stream: one connection that events are sent on, by either protocol.
import type { ApiError } from '../errors.ts';
import type { Packet } from './delivery/packet.ts';
import type { AuthorizedView, StreamHolder, SubscribeRequest } from './ports.ts';
import type { Sink } from './delivery/sink.ts';
import type { AppPath } from './topic.ts';

/** The reason why a stream ends, and the message to its client. */
export interface StreamEnd {
  why: 'unauthorized' | 'policy' | 'shutdown' | 'done';
  message: string;
}

/** The encoding of a protocol. */
export interface Wire {
  /** True when the stream has a single subscription and ends with it. */
  isSingle: boolean;
  /** Sent every 15 s; undefined for a protocol that keeps itself alive. */
  ping: Buffer | undefined;
  /** Encodes events of a subscription, in buffers that streams share. */
  events(packet: Packet, id: string): readonly Buffer[];
  /** Encodes that events were missed and are no longer held. The stream continues at `cursor`. */
  reset(id: string, cursor: string): Buffer;
  /**
   * Encodes that a rule or filter cannot be evaluated for an event, before `lost`. It lets clients that reconnect on their
   * own continue behind that event. Undefined where clients do not.
   */
  failed(id: string, cursor: string): Buffer | undefined;
  /** Encodes the end of a subscription; undefined when nothing is to be sent. */
  lost(id: string, error: ApiError): Buffer | undefined;
  /** Sends the reason and closes the connection, after what still waits. */
  close(end: StreamEnd): void;
}

/** The part of a subscription that its stream uses. */
export interface StreamMember {
  /** The client's name for it; empty on a stream with one subscription. */
  readonly id: string;
  readonly stream: Stream;
  /** The request, with the present principal of the stream. */
  readonly request: SubscribeRequest;
  /** See `ExactTopic`. */
  readonly incarnation: string;
  /** The facts about the caller that its view was made of: see `AuthorizedView`. */
  readonly facts: string | undefined;
  /** Sends nothing until `resume`, and loses nothing. */
  pause(): void;
  /** Continues with this view, after `pause`. */
  resume(view: AuthorizedView): void;
  /** Ends the subscription. */
  leave(): void;
}

interface StreamOptions {
  place: AppPath;
  holder: StreamHolder;
  sink: Sink;
  wire: Wire;
  /** The time of its first ping, by the hub's clock. */
  pingAt: number;
  /** Called once when the stream has ended. */
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
  /** The time at which it began to end, by the hub's clock. Its connection closes a little later. */
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

  /** True while events are sent. */
  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Writes buffers. Cuts the stream off when its reader is too slow. */
  write(pieces: readonly Buffer[]): void {
    if (this.#state === 'open' && !this.sink.write(pieces)) this.cut();
  }

  /** Ends one subscription with an error that is sent to the client. */
  lose(subscription: StreamMember, error: ApiError, now: number): void {
    if (this.subscriptions.get(subscription.id) !== subscription) return;
    subscription.leave();
    this.subscriptions.delete(subscription.id);
    const bytes = this.wire.lost(subscription.id, error);
    if (bytes !== undefined) this.write([bytes]);
    if (this.wire.isSingle) this.end({ why: 'done', message: error.message }, now);
  }

  /** Ends the stream as the protocol does. */
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

  /** Must be called when the connection has closed. */
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
