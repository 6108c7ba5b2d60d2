// CPU time that a runner takes while nothing is asked of it: by code that goes on when its call has ended.
import { availableParallelism } from 'node:os';
import type { RunnerUse } from './host.ts';

interface RestWatchOptions {
  /** In milliseconds, of any origin. */
  now: () => number;
  /** What the runner has used since its start; undefined when that cannot be known. */
  measure: () => Promise<RunnerUse | undefined>;
  /** A call may be worked for on so many at once: all there are, unless it says otherwise. */
  cores?: number;
  /** Most of a core that it may take at rest. */
  share?: number | undefined;
}

/** How things stood: when, how long calls had been under way by then, and what the runner had used. */
interface Standing {
  at: number;
  busy: number;
  cpu: number;
}

/** Over so many milliseconds of rest, a runner may not take more of a core than its share. */
const restMilliseconds = 10_000;
const usualShare = 0.8;

/** The account of one runner: all that it may have used for calls is theirs, the remainder is its own. */
export class RestWatch {
  readonly #options: RestWatchOptions;
  readonly #cores: number;
  readonly #share: number;
  #busy = 0;
  #busySince: number | undefined;
  #since: Standing | undefined;
  #isMeasuring = false;

  constructor(options: RestWatchOptions) {
    this.#options = options;
    this.#cores = options.cores ?? availableParallelism();
    this.#share = options.share ?? usualShare;
  }

  /** A call has begun; there may be others. */
  begin(now: number): void {
    this.#busySince ??= now;
  }

  /** The last call that was under way has ended. */
  end(now: number): void {
    if (this.#busySince === undefined) return;
    this.#busy += now - this.#busySince;
    this.#busySince = undefined;
  }

  /** Whether it has taken too much at rest. Measures no more often than there is something to find. */
  async isOverdrawn(): Promise<boolean> {
    const since = this.#since;
    const asked = this.#stand();
    if (this.#isMeasuring || (since !== undefined && restBetween(since, asked) < restMilliseconds)) {
      return false;
    }
    this.#isMeasuring = true;
    const use = await this.#options.measure().finally(() => this.#isMeasuring = false);
    if (use === undefined) return false;
    this.#since = { ...asked, cpu: use.cpu_ms };
    if (since === undefined) return false;
    // It was measured at some moment until now: what is not certain speaks for the runner.
    const heard = this.#stand();
    const own = use.cpu_ms - since.cpu - (heard.busy - since.busy) * this.#cores;
    return own > this.#share * restBetween(since, heard);
  }

  #stand(): Omit<Standing, 'cpu'> {
    const at = this.#options.now();
    return { at, busy: this.#busy + (this.#busySince === undefined ? 0 : at - this.#busySince) };
  }
}

function restBetween(from: Omit<Standing, 'cpu'>, to: Omit<Standing, 'cpu'>): number {
  return to.at - from.at - (to.busy - from.busy);
}
