// Many deadlines on one timer: setting one costs nothing while an earlier one is already waited for.
import { InFlight } from '../../../storage/connections/in-flight.ts';

/** Deadlines by id, in milliseconds of `performance.now()`. */
export class Deadlines {
  readonly #due = new InFlight<number>();
  readonly #onDue: (id: number) => void;
  #timer: NodeJS.Timeout | undefined;
  #timerDue = Infinity;

  constructor(onDue: (id: number) => void) {
    this.#onDue = onDue;
  }

  /** Sets one, in the place of an earlier one of the same id. */
  set(id: number, deadline: number): void {
    this.#due.set(id, deadline);
    if (deadline < this.#timerDue) this.#startTimer(deadline);
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
    let next = Infinity;
    for (const [id, deadline] of this.#due.entries()) {
      if (deadline <= now) {
        this.#due.delete(id);
        this.#onDue(id);
      } else if (deadline < next) next = deadline;
    }
    if (next < this.#timerDue) this.#startTimer(next);
  }
}
