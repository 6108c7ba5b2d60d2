// One watched collection: its log, its subscriptions, and the batches on their way to them.
import type { RecordChange, RecordEvent } from './event.ts';
import { type Batch, batchOf } from './packet.ts';
import type { View } from './ports.ts';
import type { ReplayLog } from './replay.ts';
import type { Stream } from './stream.ts';
import { type Source, Subscription } from './subscription.ts';
import type { Topic } from './topic.ts';
import { SharedView } from './view.ts';

interface FeedOptions {
  topic: Topic;
  incarnation: string;
  log: ReplayLog;
  /** Asks for `deliver` to be called soon. */
  wake: (feed: Feed) => void;
  /** A predicate threw: the subscription is to end. */
  onFailure: (subscription: Subscription, failure: unknown) => void;
}

/** A batch is closed once it has this many bytes, so that one write stays small against what may wait. */
const batchBytes = 65_536;
/** Subscriptions that are served between two looks at the clock. */
const stride = 64;

/** Everything that happens between a change and the sockets of those who watch its collection. */
export class Feed implements Source {
  readonly topic: Topic;
  readonly incarnation: string;
  readonly log: ReplayLog;
  /** When its last subscriber left, in milliseconds since 1970; undefined while there is one. */
  unusedSince: number | undefined;
  readonly #options: FeedOptions;
  readonly #subscriptions = new Set<Subscription>();
  readonly #views = new Map<string, SharedView>();
  /** Events that came since the last batch was closed, and the closed batches. */
  #gathering: RecordEvent[] = [];
  #gatheringBytes = 0;
  #closed: Batch[] = [];
  /** The batch that is being delivered, and who has not been offered it yet. */
  #current: { batch: Batch; left: SetIterator<Subscription> } | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.topic = options.topic;
    this.incarnation = options.incarnation;
    this.log = options.log;
  }

  /** Its subscriptions, live or catching up. */
  get subscriptions(): ReadonlySet<Subscription> {
    return this.#subscriptions;
  }

  /** Takes a change in. Delivery comes in a later turn, so that a writer never waits for it. */
  take(change: RecordChange): void {
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
    this.#closed.push(batchOf(this.#gathering));
    this.#gathering = [];
    this.#gatheringBytes = 0;
  }

  /** Adds a subscription behind `position`; it sends nothing before `catchUp`. */
  join(options: {
    id: string;
    stream: Stream;
    filter: string | undefined;
    view: View;
    position: number;
    onLeft: () => void;
  }): Subscription {
    const subscription = new Subscription({ ...options, source: this, view: this.#share(options.view) });
    this.#subscriptions.add(subscription);
    this.unusedSince = undefined;
    return subscription;
  }

  /** Called by a subscription that takes no more events. */
  leave(subscription: Subscription): void {
    if (this.#subscriptions.delete(subscription)) this.#unshare(subscription.view);
  }

  /** Gives a subscription another view: from the next batch that it is offered, the new one judges. */
  review(subscription: Subscription, view: View): void {
    if (!this.#subscriptions.has(subscription)) return;
    const before = subscription.view;
    subscription.view = this.#share(view);
    this.#unshare(before);
  }

  /** Called by a subscription whose predicate threw. */
  fail(subscription: Subscription, failure: unknown): void {
    this.#options.onFailure(subscription, failure);
  }

  /** Delivers until `isTimeUp` says so. Returns whether nothing is left. */
  deliver(isTimeUp: () => boolean): boolean {
    for (;;) {
      this.#current ??= this.#next();
      if (this.#current === undefined) return true;
      const { batch, left } = this.#current;
      let served = 0;
      // The iterator of a set survives leaving the loop, and goes on where it was.
      for (const subscription of left) {
        subscription.offer(batch);
        if (++served % stride === 0 && isTimeUp()) return false;
      }
      this.#current = undefined;
      for (const view of this.#views.values()) view.forget();
    }
  }

  #next(): { batch: Batch; left: SetIterator<Subscription> } | undefined {
    if (this.#closed.length === 0) this.seal();
    const batch = this.#closed.shift();
    return batch === undefined ? undefined : { batch, left: this.#subscriptions.values() };
  }

  #share(view: View): SharedView {
    const known = this.#views.get(view.key);
    const shared = known ?? new SharedView(view);
    if (known === undefined) this.#views.set(view.key, shared);
    shared.subscribers++;
    return shared;
  }

  #unshare(view: SharedView): void {
    view.subscribers--;
    if (view.subscribers === 0 && this.#views.get(view.view.key) === view) this.#views.delete(view.view.key);
  }
}
