// Schedules deliveries in short turns, so that they do not block requests.
import type { Feed } from '../feed.ts';

/**
 * The duration of a turn of deliveries, in milliseconds. A request takes several turns of the event loop, and each may have
 * one of these before it: with 8 ms, one workspace's thousand streams made its neighbours' requests take ten times as long.
 */
const turnMs = 0.5;

/** Serves feeds that have something to deliver: one workspace after another, and its feeds in the order in which they were woken. */
export class FanOut {
  readonly #now: () => number;
  /** By workspace, the next one first. */
  readonly #waiting = new Map<string, Set<Feed>>();
  #isScheduled = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Lets a feed deliver in a later turn; events that it gets until then go out in the same write. */
  wake(feed: Feed): void {
    const { workspace } = feed.topic;
    const feeds = this.#waiting.get(workspace) ?? new Set();
    this.#waiting.set(workspace, feeds.add(feed));
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#isScheduled = false;
    const end = this.#now() + turnMs;
    const isTimeUp = () => this.#now() >= end;
    for (const [workspace, feeds] of this.#waiting) {
      for (const feed of feeds) {
        feeds.delete(feed);
        // A feed that did not finish goes behind the others of its workspace.
        if (!feed.deliver(isTimeUp)) feeds.add(feed);
        break;
      }
      // The workspace goes behind the others, however many of its feeds wait.
      this.#waiting.delete(workspace);
      if (feeds.size > 0) this.#waiting.set(workspace, feeds);
      if (isTimeUp()) break;
    }
    if (this.#waiting.size > 0) this.#schedule();
  }
}
