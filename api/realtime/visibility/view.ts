// A view as its subscribers share it: each event is judged once for all of them.
import { type EventBatch, Packet } from '../delivery/packet.ts';
import type { AuthorizedView } from '../ports.ts';
import { relatedFor } from './related-reads.ts';

/** What of a batch a view passes: a packet, nothing, or the error of a predicate that threw. */
export type Selection = Packet | undefined | { failure: unknown };

/** One view and how many subscriptions have it. */
export class SharedView {
  readonly view: AuthorizedView;
  subscribers = 0;
  #batch: EventBatch | undefined;
  #selection: Selection;

  constructor(view: AuthorizedView) {
    this.view = view;
  }

  /** Judges a batch, or recalls the judgement when it was the last one. */
  select(batch: EventBatch): Selection {
    if (this.#batch !== batch) {
      this.#selection = this.evaluate(batch);
      this.#batch = batch;
    }
    return this.#selection;
  }

  /** Lets go of the last batch, so that an idle view holds no events. */
  clear(): void {
    this.#batch = undefined;
    this.#selection = undefined;
  }

  /** Judges a batch that only one subscription gets, as a replay. */
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
