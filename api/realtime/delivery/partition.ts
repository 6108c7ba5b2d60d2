// Subscriptions of one feed that are served together, batch by batch.
import type { EventBatch } from './packet.ts';
import type { AuthorizedView } from '../ports.ts';
import { readRelated } from '../visibility/related-reads.ts';
import type { Subscription } from '../subscription.ts';
import { SharedView } from '../visibility/view.ts';

/** Subscriptions that are served between two looks at the clock, when all of them share one judgement. */
const maxStride = 64;
/** Bytes of batches that may wait while related records are read. */
const maxUnreadBytes = 4_194_304;
/** Bytes of batches that may wait while judging takes longer than writing: the largest record, or a burst of others. */
const maxWaitingBytes = 16_777_216;

interface Serving {
  batch: EventBatch;
  /** Who has not been offered it yet. */
  left: SetIterator<Subscription>;
}

/**
 * Views that look at related records have a lane of their own: what is read for them holds nobody else up, and all of them
 * get it from the same queries.
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

  /** `reads`: whether its views look at related records. `wake` asks for `deliver` to be called again. */
  constructor({ reads, wake }: { reads: boolean; wake: () => void }) {
    this.#reads = reads;
    this.#wake = wake;
  }

  /** Whether it has members, and nothing to do for them before the next batch. */
  get isIdle(): boolean {
    return this.#members.size > 0 && !this.#isReading && this.#current === undefined &&
      this.#waiting.length === 0;
  }

  /** The view as its members share it; each `share` is followed by `add` or `unshare`. */
  share(view: AuthorizedView): SharedView {
    const known = this.#views.get(view.key);
    const shared = known ?? new SharedView(view);
    if (known === undefined) this.#views.set(view.key, shared);
    shared.subscribers++;
    return shared;
  }

  /** Gives a view up. */
  unshare(shared: SharedView): void {
    shared.subscribers--;
    const { key } = shared.view;
    if (shared.subscribers === 0 && this.#views.get(key) === shared) this.#views.delete(key);
  }

  /** Takes a member in, whose view is shared here. */
  add(subscription: Subscription): void {
    this.#members.add(subscription);
  }

  /** Lets a member and its view go. */
  remove(subscription: Subscription): void {
    if (this.#members.delete(subscription)) this.unshare(subscription.view);
  }

  /** Takes a batch in. */
  push(batch: EventBatch): void {
    if (this.#members.size === 0) return;
    this.#waiting.push(batch);
    this.#waitingBytes += batch.bytes;
    // A batch that nothing else waits with is delivered, however large.
    if (this.#waiting.length === 1 && !this.#isReading) return;
    if (this.#waitingBytes <= (this.#isReading ? maxUnreadBytes : maxWaitingBytes)) return;
    // Whatever is read, or asked of each event, takes too long for what happens here.
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const member of [...this.#members]) member.skip();
  }

  /** Delivers until `isTimeUp` says so. Returns whether nothing is left that can be done now. */
  deliver(isTimeUp: () => boolean): boolean {
    while (!this.#isReading) {
      this.#current ??= this.#next();
      if (this.#isReading || this.#current === undefined) return true;
      const { batch, left } = this.#current;
      // A judgement may take long, so that the more of them there are, the fewer fit between two looks: at most eight.
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
