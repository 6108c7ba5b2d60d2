// A partition: subscriptions of one feed that are served together, batch by batch.
import type { EventBatch } from './packet.ts';
import type { AuthorizedView } from '../ports.ts';
import { readRelated } from '../visibility/related-reads.ts';
import type { Subscription } from '../subscription.ts';
import { SharedView } from '../visibility/view.ts';

/** Subscriptions that are served between two checks of the clock when all share one view. */
const maxStride = 8;
/** Bytes of batches that may wait while related records are read. */
const maxUnreadBytes = 4_194_304;
/** Bytes of batches that may wait while evaluation is slower than writing: the largest record, or a burst of others. */
const maxWaitingBytes = 16_777_216;

interface Serving {
  batch: EventBatch;
  /** The subscriptions that have not been offered it yet. */
  left: SetIterator<Subscription>;
}

/**
 * Serves the subscriptions of a feed whose views need related records, or of those whose views do not. So reads for some
 * views do not delay the others, and all views of a partition share the queries.
 */
export class Partition {
  readonly #reads: boolean;
  readonly #wake: () => void;
  readonly #members = new Set<Subscription>();
  readonly #views = new Map<string, SharedView>();
  #waiting: EventBatch[] = [];
  #waitingBytes = 0;
  #current: Serving | undefined;
  #isReading = false;

  /** `reads` is true when its views need related records. `wake` schedules another call of `deliver`. */
  constructor({ reads, wake }: { reads: boolean; wake: () => void }) {
    this.#reads = reads;
    this.#wake = wake;
  }

  /** True when it has members and nothing to do for them before the next batch. */
  get isIdle(): boolean {
    return this.#members.size > 0 && !this.#isReading && this.#current === undefined &&
      this.#waiting.length === 0;
  }

  /** The shared view of its members; each `share` is followed by `add` or `unshare`. */
  share(view: AuthorizedView): SharedView {
    const known = this.#views.get(view.key);
    const shared = known ?? new SharedView(view);
    if (known === undefined) this.#views.set(view.key, shared);
    shared.subscribers++;
    return shared;
  }

  /** Releases a shared view. */
  unshare(shared: SharedView): void {
    shared.subscribers--;
    const { key } = shared.view;
    if (shared.subscribers === 0 && this.#views.get(key) === shared) this.#views.delete(key);
  }

  /** Adds a member whose view is shared here. */
  add(subscription: Subscription): void {
    this.#members.add(subscription);
  }

  /** Removes a member and releases its view. */
  remove(subscription: Subscription): void {
    if (this.#members.delete(subscription)) this.unshare(subscription.view);
  }

  /** Adds a batch to deliver. When too many bytes wait, all members skip what they have not been sent. */
  push(batch: EventBatch): void {
    if (this.#members.size === 0) return;
    this.#waiting.push(batch);
    this.#waitingBytes += batch.bytes;
    // A batch that waits alone is delivered, whatever its size.
    if (this.#waiting.length === 1 && !this.#isReading) return;
    if (this.#waitingBytes <= (this.#isReading ? maxUnreadBytes : maxWaitingBytes)) return;
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const member of [...this.#members]) member.skip();
  }

  /** Delivers until the time is up. True when nothing is left that can be done now. */
  deliver(isTimeUp: () => boolean): boolean {
    while (!this.#isReading) {
      this.#current ??= this.#next();
      if (this.#isReading || this.#current === undefined) return true;
      const { batch, left } = this.#current;
      // Each view is evaluated once for a batch, so the more views there are, the more often the clock is checked.
      const stride = Math.max(1, Math.floor(maxStride / Math.max(1, this.#views.size)));
      let served = 0;
      // The iterator of a set survives leaving the loop, and goes on where it was.
      for (const subscription of left) {
        subscription.offer(batch);
        if (++served % stride === 0 && isTimeUp()) return false;
      }
      this.#current = undefined;
      for (const view of this.#views.values()) view.clear();
    }
    return true;
  }

  #next(): Serving | undefined {
    const batch = this.#waiting.shift();
    if (batch === undefined) return undefined;
    this.#waitingBytes -= batch.bytes;
    if (this.#reads) void this.#read(batch);
    return { batch, left: this.#members.values() };
  }

  async #read(batch: EventBatch): Promise<void> {
    this.#isReading = true;
    batch.related = await readRelated(batch.events, this.#views.values().map(({ view }) => view));
    this.#isReading = false;
    this.#wake();
  }
}
