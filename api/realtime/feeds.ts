// The feeds of all collections that have subscribers, or had some lately.
import type { Bounds } from './bounds.ts';
import type { Broker } from './broker.ts';
import { Cursors } from './cursor.ts';
import { FanOut } from './delivery/fan-out.ts';
import { Feed } from './feed.ts';
import type { ChangeScope } from './ports.ts';
import { ReplayLog } from './replay.ts';
import { collectionDropped, type Subscription } from './subscription.ts';
import { type Topic, topicKey } from './topic.ts';

interface FeedsOptions {
  broker: Broker;
  now: () => number;
  cursorKey: Buffer;
  bounds: Bounds;
  /** A predicate threw: the subscription is to end. */
  onFailure: (subscription: Subscription, failure: unknown) => void;
}

interface Watched {
  feed: Feed;
  unsubscribe: () => void;
}

/** Keeps one feed for each collection with subscribers. A collection without any costs nothing. */
export class Feeds {
  readonly #options: FeedsOptions;
  readonly #cursors: Cursors;
  readonly #fanOut: FanOut;
  readonly #watched = new Map<string, Watched>();
  #logs = 0;

  constructor(options: FeedsOptions) {
    this.#options = options;
    this.#cursors = new Cursors(options.cursorKey);
    this.#fanOut = new FanOut(options.now);
  }

  /** The feed of a collection. Replaces the feed of an earlier collection of the same name. */
  watch(topic: Topic, incarnation: string): Feed {
    const key = topicKey(topic);
    const known = this.#watched.get(key);
    if (known?.feed.incarnation === incarnation) return known.feed;
    if (known !== undefined) this.#drop(key, known);
    const { broker, bounds, onFailure } = this.#options;
    const feed = new Feed({
      topic,
      incarnation,
      log: new ReplayLog({ number: ++this.#logs, cursors: this.#cursors, bounds: bounds.log }),
      wake: (woken) => this.#fanOut.wake(woken),
      onFailure,
    });
    this.#watched.set(key, {
      feed,
      unsubscribe: broker.subscribe({ ...topic, incarnation }, (change) => feed.append(change)),
    });
    return feed;
  }

  /** True when the feed of that name belongs to an earlier or a later collection. */
  hasAnother(topic: Topic, incarnation: string): boolean {
    const known = this.#watched.get(topicKey(topic));
    return known !== undefined && known.feed.incarnation !== incarnation;
  }

  /** The feeds of an app, of a whole workspace, or all. */
  *within({ workspace, app }: ChangeScope): Generator<Feed> {
    for (const { feed } of this.#watched.values()) {
      const { topic } = feed;
      const isWorkspace = workspace === undefined || topic.workspace === workspace;
      if (isWorkspace && (app === undefined || topic.app === app)) yield feed;
    }
  }

  /** Drops feeds without subscribers for a while, and shrinks the logs when together they are too large. */
  sweep(now: number): void {
    let bytes = 0;
    for (const [key, watched] of this.#watched) {
      if (this.#isUnused(watched.feed, now)) this.#drop(key, watched);
      else bytes += watched.feed.log.bytes;
    }
    if (bytes > this.#options.bounds.logsBytes) this.#shrinkLogs(bytes);
  }

  /** Ends the subscriptions to the broker. */
  close(): void {
    for (const { unsubscribe } of this.#watched.values()) unsubscribe();
  }

  #drop(key: string, { feed, unsubscribe }: Watched): void {
    unsubscribe();
    this.#watched.delete(key);
    const now = this.#options.now();
    for (const member of feed.subscriptions) member.stream.lose(member, collectionDropped(), now);
  }

  #isUnused(feed: Feed, now: number): boolean {
    if (feed.subscriptions.size > 0) return false;
    feed.unusedSince ??= now;
    return now - feed.unusedSince >= this.#options.bounds.unusedMs;
  }

  /** Halves the largest logs first, so that one busy collection does not cost the others their events. */
  #shrinkLogs(bytes: number): void {
    const { logsBytes } = this.#options.bounds;
    const logs = [...this.#watched.values()].map(({ feed }) => feed.log).sort((a, b) => b.bytes - a.bytes);
    let left = bytes;
    for (const log of logs) {
      if (left <= logsBytes) return;
      left -= log.bytes;
      log.halve();
      left += log.bytes;
    }
  }
}
