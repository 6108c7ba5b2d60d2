// A view that several subscriptions share: each event is evaluated once for all of them.
import { type EventBatch, Packet } from '../delivery/packet.ts';
import type { AuthorizedView } from '../ports.ts';
import { relatedFor } from './related-reads.ts';

/** The events of a batch that a view passes: a packet, none, or the error of a predicate that threw. */
export type Selection = Packet | undefined | { failure: unknown };

/** A view and the number of its subscriptions. */
export class SharedView {
  readonly view: AuthorizedView;
  subscribers = 0;
  #batch: EventBatch | undefined;
  #selection: Selection;

  constructor(view: AuthorizedView) {
    this.view = view;
  }

  /** Evaluates a batch. The result for the last batch is cached. */
  select(batch: EventBatch): Selection {
    if (this.#batch !== batch) {
      this.#selection = this.evaluate(batch);
      this.#batch = batch;
    }
    return this.#selection;
  }

  /** Clears the cached result, so that an idle view holds no events. */
  clear(): void {
    this.#batch = undefined;
    this.#selection = undefined;
  }

  /** Evaluates a batch that only one subscription gets, such as a replay, without caching. */
  evaluate({ events, whole, related: read }: EventBatch): Selection {
    try {
      const related = relatedFor(this.view, read);
      const seen = events.filter((event) => this.view.passes(event, related));
      if (seen.length === events.length) return whole;
      return seen.length === 0 ? undefined : new Packet(seen);
    } catch (failure) {
      return { failure };
    }
  }
}
