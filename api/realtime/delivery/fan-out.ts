// Deliveries take turns with everything else that the process does.
import type { Feed } from '../feed.ts';

/** How long a turn of deliveries may take, in milliseconds, before requests get theirs. */
const turnMs = 8;

/** Serves feeds that have something to deliver, in the order in which they asked. */
export class FanOut {
  readonly #now: () => number;
  #waiting = new Set<Feed>();
  #isScheduled = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Has a feed deliver in a later turn; what it gets until then goes out in the same write. */
  wake(feed: Feed): void {
    this.#waiting.add(feed);
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
    for (const feed of this.#waiting) {
      this.#waiting.delete(feed);
      // A feed that did not finish goes behind the others.
      if (!feed.deliver(isTimeUp)) this.#waiting.add(feed);
      if (isTimeUp()) break;
    }
    if (this.#waiting.size > 0) this.#schedule();
  }
}
