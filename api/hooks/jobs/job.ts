// One scheduled job: waits for its time, runs once at a time, and makes up for nothing.
import type { NextTime } from './times.ts';

/** The dependencies of a job. */
export interface CronJobOptions<Result> {
  now: () => Date;
  /** Runs it; never throws. `requestId` is that of the request for a run by hand. */
  run: (due: Date, requestId: string | undefined) => Promise<Result>;
  /** It is due while it still runs. */
  onOverlap: (due: Date) => void;
}

/** A machine that slept has missed what was due meanwhile. */
const maxLateMs = 10_000;
/** Timers know nothing of a clock that is set, nor of a sleep: what is due after one is not to be found later than that. */
const maxWaitMs = maxLateMs;
/** A clock that was wrong may have put a run a year away. A clock that is only trimmed runs nothing a second time. */
const clockSetBackMs = 60_000;

/** A job of an app. */
export class CronJob<Result> {
  readonly #options: CronJobOptions<Result>;
  #expression = '';
  #nextTime: NextTime = () => null;
  #due: Date | null = null;
  /** When that was found out, in milliseconds. */
  #plannedAt = 0;
  #last: Date | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;

  constructor(parts: CronJobOptions<Result>) {
    this.#options = parts;
  }

  /** When it is due; null for a time that never comes. */
  get due(): Date | null {
    return this.#due;
  }

  /** When it was last run. */
  get last(): Date | null {
    return this.#last;
  }

  /** Follows an expression from now on; what is running goes on. */
  reschedule(expression: string, read: (expression: string) => NextTime): void {
    if (expression === this.#expression) return;
    this.#nextTime = read(expression);
    this.#expression = expression;
    this.#plan(this.#options.now());
  }

  /** True while it runs, or waits for its turn. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Begins a run, by hand or on schedule. Undefined while it runs already. */
  begin(due: Date, requestId?: string): Promise<Result> | undefined {
    if (this.#isRunning) return undefined;
    this.#isRunning = true;
    this.#last = due;
    return this.#options.run(due, requestId).finally(() => this.#isRunning = false);
  }

  /** Is not due any more. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#due = null;
  }

  #plan(after: Date): void {
    this.#plannedAt = after.getTime();
    this.#due = this.#nextTime(after);
    this.#wait();
  }

  #wait(): void {
    clearTimeout(this.#timer);
    if (this.#due === null) return;
    const left = this.#due.getTime() - this.#options.now().getTime();
    this.#timer = setTimeout(() => this.#check(), Math.min(Math.max(left, 1), maxWaitMs));
    this.#timer.unref();
  }

  #check(): void {
    const [now, due] = [this.#options.now(), this.#due];
    if (due === null) return;
    if (now.getTime() < this.#plannedAt - clockSetBackMs) return this.#plan(now);
    if (now < due) return this.#wait();
    const isLate = now.getTime() - due.getTime() > maxLateMs;
    if (!isLate && this.begin(due) === undefined) this.#options.onOverlap(due);
    this.#plan(now);
  }
}
