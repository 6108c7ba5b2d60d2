// The realtime hub of a process: publishing, streams and subscriptions.
import type { Duplex } from 'node:stream';
import { fail } from '../errors.ts';
import { Backlog } from './delivery/backlog.ts';
import { type Bounds, defaultBounds } from './bounds.ts';
import type { Broker } from './broker.ts';
import { bulkChange, type RecordChange } from './event.ts';
import { Feeds } from './feeds.ts';
import type {
  AuthorizedView,
  BulkPublisher,
  ChangeScope,
  Publisher,
  RealtimeGate,
  Report,
  StreamHolder,
  SubscribeRequest,
} from './ports.ts';
import { CallerWatch } from './visibility/caller-watch.ts';
import { Reauthorizer } from './visibility/reauthorize.ts';
import { type StreamClaim, StreamQuota } from './stream-quota.ts';
import { Sink } from './delivery/sink.ts';
import { Stream, type StreamEnd, type Wire } from './stream.ts';
import { predicateFailed } from './subscription.ts';
import type { AppPath, ExactTopic } from './topic.ts';

interface HubOptions {
  broker: Broker;
  gate: RealtimeGate;
  report: Report;
  /** A monotonic clock, in milliseconds. */
  now: () => number;
  /** 16 random bytes, new in each process. */
  cursorKey: Buffer;
  /** Called with each workspace whose streams are cut off, as too much waits for them. */
  onCut?: (workspace: string) => void;
  bounds?: Partial<Bounds>;
}

/** The view of an accepted request, and the number of definition changes when it was authorized. */
export interface Authorization {
  view: AuthorizedView;
  version: number;
}

/** An authorized subscription that is about to begin. */
export interface NewSubscription {
  /** The client's name for it; empty on a stream with one subscription. */
  id: string;
  collection: string;
  filter: string | undefined;
  /** A cursor. An empty one counts as none, like the empty last event id of an `EventSource`. */
  since: string | undefined;
  authorization: Authorization;
  /** Called once when it has ended. */
  onLeft?: () => void;
}

const stopping: StreamEnd = { why: 'shutdown', message: 'the server is stopping' };
const tokenEnds: Record<'expired' | 'revoked', StreamEnd> = {
  expired: { why: 'unauthorized', message: 'the access token has expired' },
  revoked: { why: 'unauthorized', message: 'the access token has been revoked' },
};

/** Holds the streams and feeds, and the timer that checks them. */
export class Hub implements Publisher, BulkPublisher {
  /** The monotonic clock of the hub, in milliseconds. */
  readonly now: () => number;
  readonly #options: HubOptions;
  readonly #bounds: Bounds;
  readonly #feeds: Feeds;
  readonly #reauthorizer: Reauthorizer;
  readonly #callers: CallerWatch;
  readonly #quota: StreamQuota;
  readonly #backlog: Backlog;
  readonly #streams = new Set<Stream>();
  readonly #timer: NodeJS.Timeout;
  readonly #unsubscribe: () => void;
  #version = 0;
  #onEmpty: (() => void) | undefined;
  #isClosed = false;

  constructor(options: HubOptions) {
    const { broker, gate, report, now, cursorKey, bounds } = options;
    this.#options = options;
    this.#bounds = { ...defaultBounds, ...bounds };
    this.now = now;
    this.#feeds = new Feeds({
      broker,
      now,
      cursorKey,
      bounds: this.#bounds,
      onFailure: (subscription, failure) => {
        report('evaluate a subscription', failure);
        subscription.stream.lose(subscription, predicateFailed(), now());
      },
    });
    this.#reauthorizer = new Reauthorizer({ gate, now, report });
    this.#callers = new CallerWatch({
      gate,
      report,
      intervalMs: this.#bounds.callersMs,
      onChange: (member) => this.#reauthorizer.add([member]),
    });
    this.#quota = new StreamQuota(this.#bounds.streams);
    this.#backlog = new Backlog(this.#bounds.backlogBytes, options.onCut);
    this.#unsubscribe = gate.onDefinitionChange((place) => this.#onDefinitionChange(place));
    this.#timer = setInterval(() => this.#sweepStreams(), this.#bounds.sweepMs);
    this.#timer.unref();
  }

  /** Publishes a committed write. Never throws, never waits. */
  publish(topic: ExactTopic, change: RecordChange): void {
    this.#options.broker.publish(topic, change);
  }

  /** Makes the subscriptions of a collection read it again. Never throws, never waits. */
  reset(topic: ExactTopic): void {
    this.#options.broker.publish(topic, bulkChange);
  }

  /** Claims quota for a stream with the filter of its only subscription. Throws `429`, or `503` when the server stops. */
  claimStream(holder: StreamHolder, filter?: string): StreamClaim {
    if (this.#isClosed) fail('unavailable', 'the server is stopping', [['Retry-After', '1']]);
    return this.#quota.claim(holder, filter);
  }

  /** Authorizes a request by the rules. Throws as `RealtimeGate.authorize` does. */
  async authorize(request: SubscribeRequest): Promise<Authorization> {
    const version = this.#version;
    const view = await this.#options.gate.authorize(request);
    // A view of an earlier collection of the same name would end the subscriptions of the current one.
    const isOutdated = version !== this.#version && this.#feeds.hasAnother(request.topic, view.incarnation);
    return isOutdated ? await this.authorize(request) : { view, version };
  }

  /** Adds a connection. `stream.closed()` must be called when it closes. */
  attach(
    socket: Duplex,
    { place, holder, wire, claim }: { place: AppPath; holder: StreamHolder; wire: Wire; claim: StreamClaim },
  ): Stream {
    const stream: Stream = new Stream({
      place,
      holder,
      wire,
      sink: new Sink(socket, {
        workspace: place.workspace,
        bounds: this.#bounds.sink,
        backlog: this.#backlog,
      }),
      pingAt: this.now() + this.#bounds.pingMs,
      onGone: () => {
        claim.release();
        this.#streams.delete(stream);
        if (this.#streams.size === 0) this.#onEmpty?.();
      },
    });
    this.#streams.add(stream);
    if (this.#isClosed) stream.end(stopping, this.now());
    return stream;
  }

  /**
   * Subscribes a stream. `onStart` is called with the cursor of the beginning, before the first event. Without `since` the
   * subscription begins now.
   */
  subscribe(
    stream: Stream,
    subscription: NewSubscription,
    onStart: (cursor: string) => void,
  ): void {
    const { id, filter, since, authorization, onLeft = () => undefined } = subscription;
    if (!stream.isOpen) return onLeft();
    const feed = this.#feeds.watch(
      { ...stream.place, collection: subscription.collection },
      authorization.view.incarnation,
    );
    const begins = since === undefined || since === '';
    const known = begins ? feed.log.newest : feed.log.locate(since);
    const position = known ?? feed.log.newest;
    const member = feed.join({ id, stream, filter, view: authorization.view, position, onLeft });
    stream.subscriptions.set(id, member);
    const cursor = feed.log.cursorAt(position);
    onStart(cursor);
    if (known === undefined) stream.write([stream.wire.reset(id, cursor)]);
    // A rule may have changed since the authorization.
    if (authorization.version !== this.#version) this.#reauthorizer.add([member]);
    else member.catchUp();
  }

  /** Re-authorizes all subscriptions of a stream whose principal has changed. */
  reauthorize(stream: Stream): void {
    this.#reauthorizer.add(stream.subscriptions.values());
  }

  /** Ends all streams. Those that have not closed within `milliseconds` are cut off. */
  async close(milliseconds: number): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#unsubscribe();
    this.#feeds.close();
    const emptied = new Promise<void>((resolve) => this.#onEmpty = resolve);
    for (const stream of [...this.#streams]) stream.end(stopping, this.now());
    if (this.#streams.size === 0) return;
    const deadline = setTimeout(() => {
      for (const stream of [...this.#streams]) stream.cut();
    }, milliseconds);
    await emptied;
    clearTimeout(deadline);
  }

  #onDefinitionChange(place: ChangeScope): void {
    this.#version++;
    this.#reauthorizer.add(this.#feeds.within(place).flatMap(({ subscriptions }) => subscriptions));
  }

  #sweepStreams(): void {
    const now = this.now();
    for (const stream of this.#streams) this.#sweepStream(stream, now);
    this.#feeds.sweep(now);
    this.#callers.sweep(this.#feeds.within({}), now);
  }

  #sweepStream(stream: Stream, now: number): void {
    const { endingSince } = stream;
    if (endingSince !== undefined) {
      if (now - endingSince >= this.#bounds.endingMs) stream.cut();
      return;
    }
    const end = this.#reasonToEnd(stream);
    if (end !== undefined) stream.end(end, now);
    else if (stream.sink.isStalled(now)) stream.cut();
    else if (stream.wire.ping !== undefined && now >= stream.pingAt) {
      stream.pingAt += this.#bounds.pingMs;
      stream.write([stream.wire.ping]);
    }
  }

  #reasonToEnd({ holder, place }: Stream): StreamEnd | undefined {
    if (holder.principal === null) return undefined;
    try {
      const state = this.#options.gate.tokenState(holder.principal, place);
      return state === 'good' ? undefined : tokenEnds[state];
    } catch (error) {
      this.#options.report('check a token', error);
      return tokenEnds.revoked;
    }
  }
}
