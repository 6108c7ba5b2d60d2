// One watched collection: its log, its subscriptions, and the batches on their way to them.
import type { RecordChange, RecordEvent } from './event.ts';
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
  /** Asks for `deliver` to be called soon. */
  wake: (feed: Feed) => void;
  /** A predicate threw: the subscription is to end. */
  onFailure: (subscription: Subscription, failure: unknown) => void;
}

/** What a turn of deliveries is shared by. */
interface Part {
  /** Delivers until `isTimeUp` says so. Returns whether nothing is left that can be done now. */
  deliver(isTimeUp: () => boolean): boolean;
}

/** A batch is closed once it has this many bytes, so that one write stays small against what may wait. */
const batchBytes = 65_536;

/** Everything that happens between a change and the sockets of those who watch its collection. */
export class Feed implements EventSource {
  readonly topic: Topic;
  readonly incarnation: string;
  readonly log: ReplayLog;
  /** When its last subscriber left, by the hub's clock; undefined while there is one. */
  unusedSince: number | undefined;
  readonly #options: FeedOptions;
  readonly #subscriptions = new Set<Subscription>();
  /** For views that look at the record alone, and for those that look at others too. */
  readonly #direct: Partition;
  readonly #related: Partition;
  readonly #partitions: readonly [Partition, Partition];
  readonly #catchUps = new CatchUpQueue();
  /** The one that was served last is the last in the next turn. */
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

  /** Takes a change in. Delivery comes in a later turn, so that a writer never waits for it. */
  append(change: RecordChange): void {
    const event = this.log.append(change);
    if (this.#subscriptions.size === 0) return;
    this.#gathering.push(event);
    this.#gatheringBytes += event.frame.length;
    if (this.#gatheringBytes >= batchBytes) this.seal();
    this.#options.wake(this);
  }

  /** Closes the batch that is being gathered: whoever goes live now has seen all of it, and nothing of the next. */
  seal(): void {
    if (this.#gathering.length === 0) return;
    const batch = batchOf(this.#gathering);
    this.#gathering = [];
    this.#gatheringBytes = 0;
    for (const lane of this.#partitions) lane.push(batch);
    // It may be a straggler that went live in a turn whose lanes were served already.
    this.#options.wake(this);
  }

  /** Has a subscription send what it missed in one of the next turns. */
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
    const lane = this.#partitionOf(options.view);
    const subscription = new Subscription({ ...options, source: this, view: lane.share(options.view) });
    lane.add(subscription);
    this.#subscriptions.add(subscription);
    this.unusedSince = undefined;
    return subscription;
  }

  /** Called by a subscription that takes no more events. */
  leave(subscription: Subscription): void {
    if (this.#subscriptions.delete(subscription)) {
      this.#partitionOf(subscription.view.view).remove(subscription);
    }
  }

  /** Gives a subscription another view. */
  setView(subscription: Subscription, view: AuthorizedView): void {
    const lane = this.#partitionOf(view);
    const shared = lane.share(view);
    this.#partitionOf(subscription.view.view).remove(subscription);
    subscription.view = shared;
    lane.add(subscription);
  }

  /** Called by a subscription whose predicate threw. */
  fail(subscription: Subscription, failure: unknown): void {
    this.#options.onFailure(subscription, failure);
  }

  /** Delivers until `isTimeUp` says so. Returns whether nothing is left that can be done now. */
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

  #partitionOf({ related }: AuthorizedView): Partition {
    return related === undefined ? this.#direct : this.#related;
  }
}

/** Subscriptions that have missed something, in the order in which they asked for their turn. */
class CatchUpQueue implements Part {
  readonly #waiting = new Set<Subscription>();

  add(subscription: Subscription): void {
    this.#waiting.add(subscription);
  }

  deliver(isTimeUp: () => boolean): boolean {
    // One that has missed more comes back to the end, and is met again.
    for (const subscription of this.#waiting) {
      this.#waiting.delete(subscription);
      subscription.sendMissed();
      if (isTimeUp()) return this.#waiting.size === 0;
    }
    return true;
  }
}
