// The message broker of realtime: publishers and listeners know topics, not each other.
import type { RecordChange } from './event.ts';
import { type ExactTopic, topicKey } from './topic.ts';

/** Called for each change of a topic, in the order in which they were published. */
export type ChangeListener = (change: RecordChange) => void;

/** Carries changes from writers to listeners. test/api/realtime/broker.contract.ts is the contract of every implementation. */
export interface Broker {
  /** Publishes a committed change. Never throws and never waits. */
  publish(topic: ExactTopic, change: RecordChange): void;
  /** Calls the listener from the next change on. The returned function ends the subscription at once. */
  subscribe(topic: ExactTopic, listener: ChangeListener): () => void;
}

/** The broker of a single process: it calls the listeners directly. */
export class InProcessBroker implements Broker {
  readonly #listeners = new Map<string, Set<ChangeListener>>();
  readonly #onFailure: (error: unknown) => void;

  /** `onFailure` is called with what a listener throws. The writer and the other listeners are not affected. */
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
    // A new function, so that one listener subscribed twice is two subscriptions.
    const own: ChangeListener = (change) => listener(change);
    listeners.add(own);
    this.#listeners.set(key, listeners);
    return () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key);
    };
  }
}

/** Includes the incarnation: a late write of a dropped collection must not reach the listeners of its successor. */
function keyOf(topic: ExactTopic): string {
  return `${topicKey(topic)}/${topic.incarnation}`;
}
