// How many calls an app's hooks have at once, and how many may wait.
import { fail } from '../../errors.ts';
import type { Crowd } from './call-slots.ts';

const mostAtOnce = 32;
const mostWaiting = 128;
const mostStreams = 64;

/** The turns of one app; each has a place in the crowd. */
export class Turns {
  readonly #crowd: Crowd;
  readonly #workspace: string;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;
  #streams = 0;

  constructor(crowd: Crowd, workspace: string) {
    this.#crowd = crowd;
    this.#workspace = workspace;
  }

  /** Takes a turn at once, or a promise of one. Throws `503 hook_busy` when too many wait. */
  take(): void | Promise<void> {
    if (this.#taken < mostAtOnce) {
      this.#taken++;
      return this.#crowd.take(this.#workspace);
    }
    if (this.#waiting.length >= mostWaiting) {
      fail('hook_busy', 'too many hook calls of this app are waiting; try again', [['Retry-After', '1']]);
    }
    return new Promise<void>((resolve) => this.#waiting.push(resolve))
      .then(() => this.#crowd.take(this.#workspace));
  }

  /**
   * Gives the turn back for an answer that streams on: however slow its source or its reader, nobody waits for it. Throws
   * `503 hook_busy` when too many do, and the turn is kept.
   */
  stream(): void {
    if (this.#streams >= mostStreams || !this.#crowd.stream(this.#workspace)) {
      fail('hook_busy', 'too many answers of hooks are streaming; try again', [['Retry-After', '1']]);
    }
    this.#streams++;
    this.give();
  }

  /** A stream is over. */
  endStream(): void {
    this.#streams--;
    this.#crowd.endStream(this.#workspace);
  }

  /** Gives a turn to whoever waits longest. */
  give(): void {
    this.#crowd.give(this.#workspace);
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken--;
    else next();
  }
}
