// Re-authorizes subscriptions when a rule, a collection or their principal has changed.
import { ApiError, toApiError } from '../../errors.ts';
import type { RealtimeGate, Reauthorization, Report } from '../ports.ts';
import type { StreamMember } from '../stream.ts';
import { collectionDropped } from '../subscription.ts';

interface ReviewOptions {
  gate: RealtimeGate;
  now: () => number;
  report: Report;
}

/** The subscriptions of an app that are to be re-authorized. */
interface Waiting {
  members: Set<StreamMember>;
  /** A new one whenever members are added. */
  reauthorization: Reauthorization;
}

/** The duration of a turn, in milliseconds. */
const turnMs = 8;

/**
 * Re-authorizes the subscriptions of each app one after the other, and of different apps at the same time. A subscription
 * that changes again while it waits is re-authorized once. Until then it is paused.
 */
export class Reauthorizer {
  readonly #options: ReviewOptions;
  /** By app. */
  readonly #waiting = new Map<string, Waiting>();
  #turnEnds = 0;
  #nextTurn: Promise<void> | undefined;

  constructor(options: ReviewOptions) {
    this.#options = options;
  }

  /** Schedules subscriptions, in this turn or the next ones. */
  add(members: Iterable<StreamMember>): void {
    if (this.#waiting.size === 0) this.#turnEnds = this.#options.now() + turnMs;
    for (const [place, added] of Map.groupBy(members, placeOf)) {
      for (const member of added) member.pause();
      const waiting = this.#waiting.get(place);
      if (waiting === undefined) void this.#work(place, new Set(added));
      else {
        for (const member of added) waiting.members.add(member);
        waiting.reauthorization = reauthorizationOf(waiting.members);
      }
    }
  }

  async #work(place: string, members: Set<StreamMember>): Promise<void> {
    const waiting: Waiting = { members, reauthorization: reauthorizationOf(members) };
    this.#waiting.set(place, waiting);
    for (const member of members) {
      members.delete(member);
      await this.#reauthorize(member, waiting);
      while (this.#options.now() >= this.#turnEnds) await this.#turn();
    }
    // In the same step in which nothing was left, so that nothing can be added in between.
    this.#waiting.delete(place);
  }

  /** The next turn, the same for all apps, so that many apps together do not block requests. */
  #turn(): Promise<void> {
    return this.#nextTurn ??= new Promise((resolve) =>
      setImmediate(() => {
        this.#nextTurn = undefined;
        this.#turnEnds = this.#options.now() + turnMs;
        resolve();
      })
    );
  }

  /** Fails closed: a subscription that cannot be authorized ends. */
  async #reauthorize(member: StreamMember, { members, reauthorization }: Waiting): Promise<void> {
    const { gate, now, report } = this.#options;
    const { principal } = member.stream.holder;
    try {
      const view = await gate.authorize(member.request, reauthorization);
      if (members.has(member) || member.stream.holder.principal !== principal) return;
      if (view.incarnation !== member.incarnation) throw collectionDropped();
      member.resume(view);
    } catch (error) {
      if (!(error instanceof ApiError)) report('review a subscription', error);
      member.stream.lose(member, toApiError(error), now());
    }
  }
}

function placeOf({ request: { topic } }: StreamMember): string {
  return `${topic.workspace} ${topic.app}`;
}

function reauthorizationOf(members: ReadonlySet<StreamMember>): Reauthorization {
  return {
    *callers() {
      for (const { stream: { holder: { principal } } } of members) if (principal !== null) yield principal;
    },
  };
}
