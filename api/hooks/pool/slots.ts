// The slots of hook calls and of responses that stream on: of one app, of its workspace, and of the whole process.
import { FairQueue } from '../../../storage/concurrency/fair-queue.ts';
import { ApiError } from '../../errors.ts';
import type { RunLimit } from './run-limit.ts';

/** The slots that the hooks of all apps of a process share; the owners are workspaces. */
export interface SharedSlots {
  calls: FairQueue;
  /** Responses that stream on after their call has given its slot back. */
  streams: FairQueue;
}

/** Half of all is the most that one workspace has: whatever it does, the hooks of others go on. */
export function createSharedSlots(): SharedSlots {
  return {
    calls: new FairQueue({ slots: 256, perOwner: 128 }),
    streams: new FairQueue({ slots: 512, perOwner: 128 }),
  };
}

/** The slots of one app. Each call holds one of them and one of the shared ones. */
export class AppSlots {
  readonly #shared: SharedSlots;
  readonly #workspace: string;
  readonly #limit: Pick<RunLimit, 'known' | 'find'>;
  /** As policy had it when a slot was last taken. */
  #concurrency = 1;
  readonly #calls = new FairQueue({
    slots: () => this.#concurrency,
    maxWaiting: () => 4 * this.#concurrency,
    refuse: () => busy('too many hook calls of this app are waiting; try again'),
  });
  readonly #streams = new FairQueue({ slots: 64 });

  constructor(shared: SharedSlots, workspace: string, limit: Pick<RunLimit, 'known' | 'find'>) {
    this.#shared = shared;
    this.#workspace = workspace;
    this.#limit = limit;
  }

  /** Takes a slot: at once, or by a promise. Throws or rejects with `503 hook_busy` when too many calls wait, and `StorageError`. */
  acquire(): void | Promise<void> {
    const { known } = this.#limit;
    return known === undefined ? this.#limit.find().then((found) => this.#take(found)) : this.#take(known);
  }

  #take({ concurrency }: { concurrency: number }): void | Promise<void> {
    this.#concurrency = concurrency;
    // More than before may let those go on that wait.
    this.#calls.advance();
    const admitted = this.#calls.acquire();
    if (admitted === undefined) return this.#shared.calls.acquire(this.#workspace);
    return admitted.then(() => this.#shared.calls.acquire(this.#workspace));
  }

  /** Gives a slot back. */
  release(): void {
    this.#shared.calls.release(this.#workspace);
    this.#calls.release();
  }

  /**
   * Exchanges the slot of a call for that of a stream: calls do not wait for a response whose source or reader is slow.
   * Throws `503 hook_busy` when there are too many streams, and the slot of the call is kept.
   */
  beginStream(): void {
    if (!this.#streams.tryAcquire()) refuseStream();
    if (!this.#shared.streams.tryAcquire(this.#workspace)) {
      this.#streams.release();
      refuseStream();
    }
    this.release();
  }

  /** Gives the slot of a stream back. */
  endStream(): void {
    this.#streams.release();
    this.#shared.streams.release(this.#workspace);
  }
}

function busy(message: string): ApiError {
  return new ApiError('hook_busy', message, [['Retry-After', '1']]);
}

function refuseStream(): never {
  throw busy('too many responses of hooks are streaming; try again');
}
