// Looking for an answer that comes soon instead of sleeping until it is there (busy polling): to fall asleep and be woken takes
// about as long as a usual hook.
import { availableParallelism } from 'node:os';

/** Most hooks have answered by then, and who waits for longer does not notice. */
const longestMilliseconds = 0.25;

interface BusyPollOptions {
  /** Whether an answer is still to come. */
  isAwaited: () => boolean;
  /** In milliseconds. */
  now?: () => number;
  /** API processes of the server. */
  workers: number;
  cores?: number;
}

/** Keeps the event loop awake while an answer is awaited. Whatever else comes is done meanwhile, as ever. */
export class BusyPoll {
  readonly #isAwaited: () => boolean;
  readonly #now: () => number;
  /** Where none is left for whoever is to answer, that would have to wait. */
  readonly #hasCore: boolean;
  readonly #look = () => this.#goOn();
  #until = 0;
  #isLooking = false;

  constructor(
    { isAwaited, now = () => performance.now(), workers, cores = availableParallelism() }: BusyPollOptions,
  ) {
    this.#isAwaited = isAwaited;
    this.#now = now;
    this.#hasCore = cores > workers;
  }

  /** Something was asked just now. */
  begin(): void {
    if (!this.#hasCore) return;
    this.#until = this.#now() + longestMilliseconds;
    if (this.#isLooking) return;
    this.#isLooking = true;
    setImmediate(this.#look);
  }

  #goOn(): void {
    if (this.#isAwaited() && this.#now() < this.#until) setImmediate(this.#look);
    else this.#isLooking = false;
  }
}
