// Looks again at what subscribers may see, when a rule, a collection or their principal has changed.
import { ApiError, toApiError } from '../errors.ts';
import type { Gate, Report } from './ports.ts';
import type { Member } from './stream.ts';
import { collectionGone } from './subscription.ts';

interface ReviewOptions {
  gate: Gate;
  now: () => number;
  report: Report;
}

/** How long subscriptions are reviewed in one turn, in milliseconds. */
const turnMilliseconds = 8;

/** Reviews subscriptions one after the other; one that changes again while it waits is reviewed once. */
export class Reviewer {
  readonly #options: ReviewOptions;
  readonly #waiting = new Set<Member>();
  #isBusy = false;

  constructor(options: ReviewOptions) {
    this.#options = options;
  }

  /** Has subscriptions reviewed in this turn or the next ones. */
  add(members: Iterable<Member>): void {
    for (const member of members) this.#waiting.add(member);
    if (this.#isBusy || this.#waiting.size === 0) return;
    this.#isBusy = true;
    void this.#work();
  }

  async #work(): Promise<void> {
    const { now } = this.#options;
    let end = now() + turnMilliseconds;
    for (const member of this.#waiting) {
      this.#waiting.delete(member);
      await this.#review(member);
      if (now() < end) continue;
      await new Promise((resolve) => setImmediate(resolve));
      end = now() + turnMilliseconds;
    }
    // In the same step that found nothing waiting: nothing can be added in between and be forgotten.
    this.#isBusy = false;
  }

  /** Fails closed: a subscription whose view cannot be found out ends. */
  async #review(member: Member): Promise<void> {
    const { gate, now, report } = this.#options;
    const { principal } = member.stream.holder;
    try {
      const view = await gate.open(member.wish);
      if (view.incarnation !== member.incarnation) throw collectionGone();
      // The principal may have changed meanwhile; then the member waits for its next review.
      if (member.stream.holder.principal === principal) member.review(view);
    } catch (error) {
      if (!(error instanceof ApiError)) report('review a subscription', error);
      member.stream.lose(member, toApiError(error), now());
    }
  }
}
