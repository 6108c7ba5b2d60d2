// A subscription of one stream to one collection: its position in the log, and its view.
import { ApiError } from '../errors.ts';
import { batchOf, type EventBatch } from './delivery/packet.ts';
import type { AuthorizedView, SubscribeRequest } from './ports.ts';
import { readRelated, type RelatedByReader } from './visibility/related-reads.ts';
import type { ReplayLog } from './replay.ts';
import type { Stream, StreamMember } from './stream.ts';
import type { Topic } from './topic.ts';
import type { Selection, SharedView } from './visibility/view.ts';

/** The feed, as a subscription uses it. */
export interface EventSource {
  readonly topic: Topic;
  readonly log: ReplayLog;
  readonly incarnation: string;
  /** Closes the batch that is being gathered. */
  seal(): void;
  /** Schedules a call of `sendMissed`. */
  queue(subscription: Subscription): void;
  setView(subscription: Subscription, view: AuthorizedView): void;
  leave(subscription: Subscription): void;
  /** Reports that the predicate of a subscription threw. */
  fail(subscription: Subscription, failure: unknown): void;
}

interface SubscriptionOptions {
  id: string;
  stream: Stream;
  source: EventSource;
  filter: string | undefined;
  view: SharedView;
  facts: string | undefined;
  /** The number of the last event that is not to be sent. */
  position: number;
  /** Called once when it has ended. */
  onLeft: () => void;
}

/** Missed events that are sent in one turn, in bytes. */
const replayBytes = 262_144;

/** Missed events whose related records are being read. */
interface Missed {
  /** The position of the subscription before them. */
  from: number;
  batch: EventBatch;
  /** True when they end the log. Then events that come meanwhile are `held`, and sent after them. */
  isLast: boolean;
  held: Selection[];
}

/** A subscription. It catches up from its position in the log, then gets events as they happen. */
export class Subscription implements StreamMember {
  readonly id: string;
  readonly stream: Stream;
  readonly filter: string | undefined;
  view: SharedView;
  facts: string | undefined;
  readonly #source: EventSource;
  readonly #onLeft: () => void;
  readonly #onDrained = () => this.catchUp();
  #position: number;
  /** `behind` until it has sent what was missed; `reading` related records for it; `paused` until it is re-authorized. */
  #state: 'behind' | 'reading' | 'live' | 'paused' | 'left' = 'behind';
  #missed: Missed | undefined;

  constructor(options: SubscriptionOptions) {
    const { id, stream, source, filter, view, facts, position, onLeft } = options;
    this.id = id;
    this.stream = stream;
    this.filter = filter;
    this.view = view;
    this.facts = facts;
    this.#source = source;
    this.#position = position;
    this.#onLeft = onLeft;
  }

  get request(): SubscribeRequest {
    const { principal, query } = this.stream.holder;
    return { topic: this.#source.topic, principal, query, filter: this.filter };
  }

  /** Sends what was missed, in turns and as fast as the client reads, and then goes live. */
  catchUp(): void {
    if (this.#state !== 'behind') return;
    if (this.#position === this.#source.log.newest) {
      this.#source.seal();
      this.#state = 'live';
    } else if (this.stream.sink.isFull) this.stream.sink.whenDrained(this.#onDrained);
    else this.#source.queue(this);
  }

  /** Sends a part of what was missed, unless the socket is full. */
  sendMissed(): void {
    if (this.#state !== 'behind') return;
    const batch = this.stream.sink.isFull ? undefined : this.#nextMissed();
    if (batch !== undefined && this.view.view.related !== undefined) return this.#readRelated(batch);
    if (batch !== undefined) {
      this.#position = batch.last;
      this.#send(this.view.evaluate(batch));
    }
    this.catchUp();
  }

  /** Sends the events of a batch that its view passes, unless they were sent while it caught up. */
  offer(batch: EventBatch): void {
    if (this.#position >= batch.last) return;
    if (this.#state === 'live') {
      this.#position = batch.last;
      this.#send(this.view.select(batch));
    } else if (this.#missed?.isLast === true) {
      this.#position = batch.last;
      this.#missed.held.push(this.view.select(batch));
    }
  }

  /** Stops sending. Events that were not sent yet are evaluated by the next view. */
  pause(): void {
    if (this.#state === 'left') return;
    if (this.#missed !== undefined) this.#position = this.#missed.from;
    this.#missed = undefined;
    this.#state = 'paused';
  }

  /** Skips what it was offered and has not sent, and sends a reset. While it catches up from the log, nothing is lost. */
  skip(): void {
    if (this.#state !== 'live' && this.#missed?.isLast !== true) return;
    this.#missed = undefined;
    this.#reset();
    this.#state = 'live';
  }

  /** Goes back to the log, which no longer has what comes next: it will send a reset. */
  miss(): void {
    if (this.#state !== 'live' && this.#state !== 'reading') return;
    this.#missed = undefined;
    this.#state = 'behind';
    this.catchUp();
  }

  get incarnation(): string {
    return this.#source.incarnation;
  }

  resume(view: AuthorizedView): void {
    if (this.#state === 'left') return;
    this.#source.setView(this, view);
    this.facts = view.facts;
    this.#state = 'behind';
    this.catchUp();
  }

  leave(): void {
    if (this.#state === 'left') return;
    this.#state = 'left';
    this.#missed = undefined;
    this.#source.leave(this);
    this.#onLeft();
  }

  /** The next events of the log; undefined when all were sent, or some were dropped. */
  #nextMissed(): EventBatch | undefined {
    const missed = this.#source.log.after(this.#position, replayBytes);
    if (missed === 'dropped') this.#reset();
    return missed === 'dropped' || missed.length === 0 ? undefined : batchOf(missed);
  }

  #readRelated(batch: EventBatch): void {
    const isLast = batch.last === this.#source.log.newest;
    // From here on it is offered new events. If it waited until none come, it might wait for ever.
    if (isLast) this.#source.seal();
    const missed: Missed = { from: this.#position, batch, isLast, held: [] };
    this.#position = batch.last;
    this.#missed = missed;
    this.#state = 'reading';
    void readRelated(batch.events, [this.view.view]).then((related) => {
      if (this.#missed === missed) this.#sendRead(missed, related);
    });
  }

  #sendRead({ batch, isLast, held }: Missed, related: RelatedByReader): void {
    this.#missed = undefined;
    this.#state = isLast ? 'live' : 'behind';
    for (const selection of [this.view.evaluate({ ...batch, related }), ...held]) this.#send(selection);
    this.catchUp();
  }

  #reset(): void {
    const { log } = this.#source;
    this.#position = log.newest;
    this.stream.write([this.stream.wire.reset(this.id, log.cursorAt(this.#position))]);
  }

  #send(selection: Selection): void {
    if (selection === undefined) return;
    if ('failure' in selection) this.#fail(selection.failure);
    else this.stream.write(this.stream.wire.events(selection, this.id));
  }

  #fail(failure: unknown): void {
    const { log } = this.#source;
    // Reading related records may succeed the next time. The record itself will be the same.
    const isForGood = this.view.view.related === undefined || failure instanceof RangeError;
    const bytes = isForGood ? this.stream.wire.failed(this.id, log.cursorAt(log.newest)) : undefined;
    if (bytes !== undefined) this.stream.write([bytes]);
    this.#source.fail(this, failure);
  }
}

/** The error of a subscription whose rule or filter could not be evaluated. */
export function predicateFailed(): ApiError {
  return new ApiError('internal', 'the rule or filter of this subscription could not be evaluated');
}

/** The error of a subscription whose collection was dropped, even if there is a new one of its name. */
export function collectionDropped(): ApiError {
  return new ApiError('not_found', 'the collection was dropped');
}
