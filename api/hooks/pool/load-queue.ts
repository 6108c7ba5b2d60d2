// Loads of one app's code, one at a time: what asks for one while another is under way gets the next.
import type { LoadResult } from '../ports.ts';

/** Why code is loaded: its files may be others, a runner is needed for it, or somebody said so. */
export type LoadCause = 'changed' | 'needed' | 'asked';

/** The loads of one app. */
export class LoadQueue {
  readonly #load: (cause: LoadCause) => Promise<LoadResult>;
  #current: Promise<LoadResult> | undefined;
  #next: { cause: LoadCause; loading: Promise<LoadResult> } | undefined;

  /** `load` is never called before its last call has settled. */
  constructor(load: (cause: LoadCause) => Promise<LoadResult>) {
    this.#load = load;
  }

  /** The load that begins next, or else the one that has begun; undefined when there is none. */
  get underWay(): Promise<LoadResult> | undefined {
    return this.#next?.loading ?? this.#current;
  }

  /** A load that reads the files from now on: what is being loaded may have been read before the change. */
  ask(cause: LoadCause): Promise<LoadResult> {
    // Looked for first: for an instant the one under way has ended, and the next has not begun.
    if (this.#next !== undefined) {
      if (cause === 'asked') this.#next.cause = cause;
      return this.#next.loading;
    }
    if (this.#current === undefined) return this.#begin(cause);
    const begin = (): Promise<LoadResult> => this.#begin(this.#next?.cause ?? cause);
    const loading = this.#current.then(begin, begin);
    this.#next = { cause, loading };
    return loading;
  }

  #begin(cause: LoadCause): Promise<LoadResult> {
    this.#next = undefined;
    const loading = this.#load(cause).finally(() => this.#current = undefined);
    this.#current = loading;
    return loading;
  }
}
