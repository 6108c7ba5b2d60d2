// A view as its subscribers share it: each event is judged once for all of them.
import { type Batch, Packet } from '../delivery/packet.ts';
import type { View } from '../ports.ts';
import { relatedFor } from './related-reads.ts';

/** What of a batch a view passes: a packet, nothing, or the error of a predicate that threw. */
export type Selection = Packet | undefined | { failure: unknown };

/** One view and how many subscriptions have it. */
export class SharedView {
  readonly view: View;
  subscribers = 0;
  #batch: Batch | undefined;
  #selection: Selection;

  constructor(view: View) {
    this.view = view;
  }

  /** Judges a batch, or recalls the judgement when it was the last one. */
  select(batch: Batch): Selection {
    if (this.#batch !== batch) {
      this.#selection = this.judge(batch);
      this.#batch = batch;
    }
    return this.#selection;
  }

  /** Lets go of the last batch, so that an idle view holds no events. */
  forget(): void {
    this.#batch = undefined;
    this.#selection = undefined;
  }

  /** Judges a batch that only one subscription gets, as a replay. */
  judge({ events, whole, related: read }: Batch): Selection {
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
