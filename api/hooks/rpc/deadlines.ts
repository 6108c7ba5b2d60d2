// Many deadlines on one timer: setting one costs nothing while an earlier one is already waited for.
import { InFlight } from '../../../storage/connections/in-flight.ts';
import type { PausedTime } from './paused-time.ts';

interface Deadline {
  at: number;
  /** How long the runner had been paused when the deadline was set. */
  pausedBefore: number;
  /** By so much, pauses move it at most: then it has taken twice its time. */
  maxDelay: number;
}

/** While the runner is paused, deadlines move with the time: they are looked at again after so many milliseconds. */
const minWaitMs = 20;

/** Deadlines by id, in milliseconds of `performance.now()`. Pauses of the runner move each of them. */
export class Deadlines {
  readonly #due = new InFlight<Deadline>();
  readonly #onDue: (id: number) => void;
  readonly #paused: PausedTime;
  #timer: NodeJS.Timeout | undefined;
  #timerDue = Infinity;

  constructor(onDue: (id: number) => void, paused: PausedTime) {
    this.#onDue = onDue;
    this.#paused = paused;
  }

  /** Sets one, in the place of an earlier one of the same id. */
  set(id: number, at: number): void {
    const now = performance.now();
    this.#due.set(id, { at, pausedBefore: this.#paused.total(now), maxDelay: at - now });
    if (at < this.#timerDue) this.#startTimer(at);
  }

  /** Takes one away. */
  delete(id: number): void {
    this.#due.delete(id);
  }

  /** Takes all away. */
  clear(): void {
    this.#due.clear();
    clearTimeout(this.#timer);
    this.#timerDue = Infinity;
  }

  #startTimer(deadline: number): void {
    clearTimeout(this.#timer);
    this.#timerDue = deadline;
    this.#timer = setTimeout(() => this.#checkDue(), Math.max(0, Math.ceil(deadline - performance.now())));
  }

  #checkDue(): void {
    this.#timerDue = Infinity;
    const now = performance.now();
    const paused = this.#paused.total(now);
    let next = Infinity;
    for (const [id, { at, pausedBefore, maxDelay }] of this.#due.entries()) {
      const deadline = at + Math.max(0, Math.min(paused - pausedBefore, maxDelay));
      if (deadline <= now) {
        this.#due.delete(id);
        this.#onDue(id);
      } else if (deadline < next) next = deadline;
    }
    if (next < this.#timerDue) this.#startTimer(Math.max(next, now + (paused > 0 ? minWaitMs : 0)));
  }
}
