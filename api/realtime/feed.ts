// The feed of one collection: its log, its subscriptions, and the batches that are being delivered.
import { isBulkChange, type RecordChange, type RecordEvent } from './event.ts';
import { Partition } from './delivery/partition.ts';
import { batchOf } from './delivery/packet.ts';
import type { AuthorizedView } from './ports.ts';
import type { ReplayLog } from './replay.ts';
import type { Stream } from './stream.ts';
import { type EventSource, Subscription } from './subscription.ts';
import type { Topic } from './topic.ts';

interface FeedOptions {
  topic: Topic;
  incarnation: string;
  log: ReplayLog;
  /** Schedules a call of `deliver`. */
  wake: (feed: Feed) => void;
  /** A predicate threw: the subscription is to end. */
  onFailure: (subscription: Subscription, failure: unknown) => void;
}

/** A part of the feed that gets a share of each turn of deliveries. */
interface Part {
  /** Delivers until the time is up. True when nothing is left that can be done now. */
  deliver(isTimeUp: () => boolean): boolean;
}

/** A batch is closed once it has this many bytes, so that one write stays small against what may wait. */
const batchBytes = 65_536;

/** Takes the changes of a collection and delivers them to its subscriptions. */
export class Feed implements EventSource {
  readonly topic: Topic;
  readonly incarnation: string;
  readonly log: ReplayLog;
  /** When its last subscriber left, by the hub's clock; undefined while there is one. */
  unusedSince: number | undefined;
  readonly #options: FeedOptions;
  readonly #subscriptions = new Set<Subscription>();
  /** The partitions of views that read the record alone, and of views that read related records. */
  readonly #direct: Partition;
  readonly #related: Partition;
  readonly #partitions: readonly [Partition, Partition];
  readonly #catchUps = new CatchUpQueue();
  /** In the order of service; the part that used up a turn comes last in the next one. */
  #parts: readonly Part[];
  /** Events that came since the last batch was closed. */
  #gathering: RecordEvent[] = [];
  #gatheringBytes = 0;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.topic = options.topic;
    this.incarnation = options.incarnation;
    this.log = options.log;
    const wake = () => options.wake(this);
    this.#direct = new Partition({ reads: false, wake });
    this.#related = new Partition({ reads: true, wake });
    this.#partitions = [this.#direct, this.#related];
    this.#parts = [...this.#partitions, this.#catchUps];
  }

  /** Its subscriptions, live or catching up. */
  get subscriptions(): ReadonlySet<Subscription> {
    return this.#subscriptions;
  }

  /** Appends a change. It is delivered in a later turn, so that no writer waits for it. */
  append(change: RecordChange): void {
    if (isBulkChange(change)) return this.#reset();
    const event = this.log.append(change);
    if (this.#subscriptions.size === 0) return;
    this.#gathering.push(event);
    this.#gatheringBytes += event.frame.length;
    if (this.#gatheringBytes >= batchBytes) this.seal();
    this.#options.wake(this);
  }

  /** Closes the batch that is being gathered. A subscription that goes live now has seen all of it. */
  seal(): void {
    if (this.#gathering.length === 0) return;
    const batch = batchOf(this.#gathering);
    this.#gathering = [];
    this.#gatheringBytes = 0;
    for (const partition of this.#partitions) partition.push(batch);
    // A subscription may have caught up in a turn in which the partitions were served already.
    this.#options.wake(this);
  }

  /** Schedules a call of `sendMissed`. */
  queue(subscription: Subscription): void {
    this.#catchUps.add(subscription);
    this.#options.wake(this);
  }

  /** Adds a subscription behind `position`; it sends nothing before `catchUp`. */
  join(options: {
    id: string;
    stream: Stream;
    filter: string | undefined;
    view: AuthorizedView;
    position: number;
    onLeft: () => void;
  }): Subscription {
    const partition = this.#partitionOf(options.view);
    const { facts } = options.view;
    const view = partition.share(options.view);
    const subscription = new Subscription({ ...options, source: this, view, facts });
    partition.add(subscription);
    this.#subscriptions.add(subscription);
    this.unusedSince = undefined;
    return subscription;
  }

  /** Removes a subscription. */
  leave(subscription: Subscription): void {
    if (this.#subscriptions.delete(subscription)) {
      this.#partitionOf(subscription.view.view).remove(subscription);
    }
  }

  /** Replaces the view of a subscription. */
  setView(subscription: Subscription, view: AuthorizedView): void {
    const partition = this.#partitionOf(view);
    const shared = partition.share(view);
    this.#partitionOf(subscription.view.view).remove(subscription);
    subscription.view = shared;
    partition.add(subscription);
  }

  /** Reports that the predicate of a subscription threw. */
  fail(subscription: Subscription, failure: unknown): void {
    this.#options.onFailure(subscription, failure);
  }

  /** Delivers until the time is up. True when nothing is left that can be done now. */
  deliver(isTimeUp: () => boolean): boolean {
    for (;;) {
      for (const part of this.#parts) {
        if (part.deliver(isTimeUp)) continue;
        this.#parts = [...this.#parts.filter((other) => other !== part), part];
        return false;
      }
      const isWanted = this.#subscriptions.size === 0 || this.#partitions.some(({ isIdle }) => isIdle);
      if (this.#gathering.length === 0 || !isWanted) return true;
      this.seal();
    }
  }

  /** Makes all subscriptions read their collection again. */
  #reset(): void {
    this.log.leaveGap();
    for (const subscription of this.#subscriptions) subscription.miss();
  }

  #partitionOf({ related }: AuthorizedView): Partition {
    return related === undefined ? this.#direct : this.#related;
  }
}

/** Subscriptions that have events to catch up on, in the order of their requests. */
class CatchUpQueue implements Part {
  readonly #waiting = new Set<Subscription>();

  add(subscription: Subscription): void {
    this.#waiting.add(subscription);
  }

  deliver(isTimeUp: () => boolean): boolean {
    // A subscription with more to send is added again, and the loop meets it again.
    for (const subscription of this.#waiting) {
      this.#waiting.delete(subscription);
      subscription.sendMissed();
      if (isTimeUp()) return this.#waiting.size === 0;
    }
    return true;
  }
}
