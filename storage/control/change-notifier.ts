// Tells the other processes of changes that are committed already, and tries again until that is done.
import { setTimeout as pause } from 'node:timers/promises';
import { type Change, notifyChange, notifyResync } from './changes.ts';
import type { Connection } from '../connections/pool.ts';

const retryMs = 250;
/** Whoever made the change may wait so long for the others to be told. */
const timeoutMs = 2_000;

/**
 * What the other processes must hear of, and was not told in the transaction that changed it, as that was in another database.
 * They would go by what was before for ever: that a request has failed tells its caller, and nobody else.
 */
export class ChangeNotifier {
  readonly #control: Connection;
  #isOwed = false;
  #making: Promise<void> | undefined;
  #closed = false;

  constructor(control: Connection) {
    this.#control = control;
  }

  /** Tells them. Throws `StorageError` when it could not yet be done; it will be, as soon as it can. */
  async notify(change: Change): Promise<void> {
    try {
      await this.#control.run((sql) => notifyChange(sql, change));
    } catch (error) {
      this.#isOwed = true;
      this.#making ??= this.#makeUp().finally(() => this.#making = undefined);
      const patience = new AbortController();
      const late = pause(timeoutMs, 'late', { signal: patience.signal }).catch(() => 'over');
      const outcome = await Promise.race([this.#making, late]);
      patience.abort();
      if (outcome === 'late') throw error;
    }
  }

  /** Stops trying. */
  close(): void {
    this.#closed = true;
  }

  /** One message for all that was missed: whoever hears it reads everything again. */
  async #makeUp(): Promise<void> {
    while (this.#isOwed && !this.#closed) {
      this.#isOwed = false;
      try {
        await this.#control.run(notifyResync);
      } catch {
        this.#isOwed = true;
        await pause(retryMs, undefined, { ref: false });
      }
    }
  }
}
