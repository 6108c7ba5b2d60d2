// Who hears of a change: publishers and listeners know topics, not each other. In this process now; NATS fits behind it.
import type { RecordChange } from './event.ts';
import { type ExactTopic, topicKey } from './topic.ts';

/** Called for each change of a topic, in the order in which they were published. */
export type ChangeListener = (change: RecordChange) => void;

/** Carries changes from writers to watchers. test/api/realtime/broker.contract.ts says what every one must do. */
export interface Broker {
  /** Called after the commit. Never throws and never waits; without a listener it costs one look-up. */
  publish(topic: ExactTopic, change: RecordChange): void;
  /** Begins with the next change; the function that is returned ends it, at once and once. */
  subscribe(topic: ExactTopic, listener: ChangeListener): () => void;
}

/** The broker of a single process: a call. */
export class InProcessBroker implements Broker {
  readonly #listeners = new Map<string, Set<ChangeListener>>();
  readonly #onFailure: (error: unknown) => void;

  /** `onFailure` hears of listeners that throw; neither the writer nor other listeners do. */
  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  publish(topic: ExactTopic, change: RecordChange): void {
    const listeners = this.#listeners.get(keyOf(topic));
    if (listeners === undefined) return;
    for (const listener of [...listeners]) {
      if (!listeners.has(listener)) continue;
      try {
        listener(change);
      } catch (error) {
        this.#onFailure(error);
      }
    }
  }

  subscribe(topic: ExactTopic, listener: ChangeListener): () => void {
    const key = keyOf(topic);
    const listeners = this.#listeners.get(key) ?? new Set();
    // Its own function, so that one listener subscribed twice is two subscriptions.
    const own: ChangeListener = (change) => listener(change);
    listeners.add(own);
    this.#listeners.set(key, listeners);
    return () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key);
    };
  }
}

/** What a write of an earlier collection has to tell, however late, is not told to those who watch the one of its name. */
function keyOf(topic: ExactTopic): string {
  return `${topicKey(topic)}/${topic.incarnation}`;
}
