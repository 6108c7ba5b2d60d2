// Looks again at what subscribers may see, when a rule, a collection or their principal has changed.
import { ApiError, toApiError } from '../../errors.ts';
import type { Gate, Report, Review } from '../ports.ts';
import type { Member } from '../stream.ts';
import { collectionGone } from '../subscription.ts';

interface ReviewOptions {
  gate: Gate;
  now: () => number;
  report: Report;
}

/** The subscriptions of an app that are to be reviewed. */
interface Waiting {
  members: Set<Member>;
  /** A new one whenever members are added. */
  review: Review;
}

/** How long subscriptions are reviewed in one turn, in milliseconds. */
const turnMilliseconds = 8;

/**
 * Reviews the subscriptions of an app one after the other, and none waits for what another app's database does; one that
 * changes again while it waits is reviewed once. Until then it is shown nothing: what it might see no more it does not, and
 * what it may see now it does not miss.
 */
export class Reviewer {
  readonly #options: ReviewOptions;
  /** By app. */
  readonly #waiting = new Map<string, Waiting>();
  #turnEnds = 0;
  #nextTurn: Promise<void> | undefined;

  constructor(options: ReviewOptions) {
    this.#options = options;
  }

  /** Has subscriptions reviewed in this turn or the next ones. */
  add(members: Iterable<Member>): void {
    if (this.#waiting.size === 0) this.#turnEnds = this.#options.now() + turnMilliseconds;
    for (const [place, added] of Map.groupBy(members, placeOf)) {
      for (const member of added) member.hold();
      const waiting = this.#waiting.get(place);
      if (waiting === undefined) void this.#work(place, new Set(added));
      else {
        for (const member of added) waiting.members.add(member);
        waiting.review = reviewOf(waiting.members);
      }
    }
  }

  async #work(place: string, members: Set<Member>): Promise<void> {
    const waiting: Waiting = { members, review: reviewOf(members) };
    this.#waiting.set(place, waiting);
    for (const member of members) {
      members.delete(member);
      await this.#review(member, waiting);
      while (this.#options.now() >= this.#turnEnds) await this.#turn();
    }
    // In the same step that found nothing waiting: nothing can be added in between and be forgotten.
    this.#waiting.delete(place);
  }

  /** One for all apps: many of them must not hold up everybody else in turn. */
  #turn(): Promise<void> {
    return this.#nextTurn ??= new Promise((resolve) =>
      setImmediate(() => {
        this.#nextTurn = undefined;
        this.#turnEnds = this.#options.now() + turnMilliseconds;
        resolve();
      })
    );
  }

  /** Fails closed: a subscription whose view cannot be found out ends. */
  async #review(member: Member, { members, review }: Waiting): Promise<void> {
    const { gate, now, report } = this.#options;
    const { principal } = member.stream.holder;
    try {
      const view = await gate.open(member.wish, review);
      if (members.has(member) || member.stream.holder.principal !== principal) return;
      if (view.incarnation !== member.incarnation) throw collectionGone();
      member.review(view);
    } catch (error) {
      if (!(error instanceof ApiError)) report('review a subscription', error);
      member.stream.lose(member, toApiError(error), now());
    }
  }
}

function placeOf({ wish: { topic } }: Member): string {
  return `${topic.workspace} ${topic.app}`;
}

function reviewOf(members: ReadonlySet<Member>): Review {
  return {
    *callers() {
      for (const { stream: { holder: { principal } } } of members) if (principal !== null) yield principal;
    },
  };
}
