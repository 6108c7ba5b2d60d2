// Schedules deliveries in short turns, so that they do not block requests.
import type { Feed } from '../feed.ts';

/** The duration of a turn of deliveries, in milliseconds. */
const turnMs = 8;

/** Serves feeds that have something to deliver, in the order in which they were woken. */
export class FanOut {
  readonly #now: () => number;
  #waiting = new Set<Feed>();
  #isScheduled = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Lets a feed deliver in a later turn; events that it gets until then go out in the same write. */
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
