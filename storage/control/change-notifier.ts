// Notifies the other processes of changes that are already committed, and retries until that succeeds.
import { setTimeout as pause } from 'node:timers/promises';
import { type Change, notifyChange, notifyResync } from './changes.ts';
import type { Connection } from '../connections/pool.ts';

const retryMs = 250;
/** The time for which the caller waits for the retries, in milliseconds. */
const timeoutMs = 2_000;

/**
 * Sends notifications that were not part of the changing transaction, because it was in another database. Without them
 * the other processes would use the old state without end: the error of the request reaches only its caller.
 */
export class ChangeNotifier {
  readonly #control: Connection;
  #isPending = false;
  #retrying: Promise<void> | undefined;
  #closed = false;

  constructor(control: Connection) {
    this.#control = control;
  }

  /** Notifies of a change. Throws `StorageError` when that has not succeeded yet; retries go on. */
  async notify(change: Change): Promise<void> {
    try {
      await this.#control.run((sql) => notifyChange(sql, change));
    } catch (error) {
      this.#isPending = true;
      this.#retrying ??= this.#retry().finally(() => this.#retrying = undefined);
      const timer = new AbortController();
      const late = pause(timeoutMs, 'late', { signal: timer.signal }).catch(() => 'over');
      const outcome = await Promise.race([this.#retrying, late]);
      timer.abort();
      if (outcome === 'late') throw error;
    }
  }

  /** Stops retrying. */
  close(): void {
    this.#closed = true;
  }

  /** Sends one message for all missed ones: its receivers read everything again. */
  async #retry(): Promise<void> {
    while (this.#isPending && !this.#closed) {
      this.#isPending = false;
      try {
        await this.#control.run(notifyResync);
      } catch {
        this.#isPending = true;
        await pause(retryMs, undefined, { ref: false });
      }
    }
  }
}
