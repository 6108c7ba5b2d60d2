// CPU time that a runner takes while nothing is asked of it: by code that goes on when its call has ended.
import { availableParallelism, cpus } from 'node:os';
import type { RunnerUse } from './host.ts';

interface IdleWatchOptions {
  /** In milliseconds, of any origin. */
  now: () => number;
  /** The usage of the runner since its start; undefined when it cannot be read. */
  measure: () => Promise<RunnerUse | undefined>;
  /** A call may be worked for on so many at once: all there are, unless it says otherwise. */
  cores?: number;
  /** Most of a core that it may take at rest. */
  share?: number | undefined;
  /** For how long the machine's cores have had nothing to do since its start, all together. As the system says, unless given. */
  idle?: () => number;
}

/**
 * How things stood: when, how long calls had been under way and cores had been idle by then, and what the runner had
 * used.
 */
interface UseSample {
  at: number;
  busy: number;
  idle: number;
  cpu: number;
}

type TimeSample = Pick<UseSample, 'at' | 'busy'>;

/** Over so many milliseconds of rest, a runner may not take more of a core than its share. */
const sampleIdleMs = 10_000;
const defaultShare = 0.8;
/** On a machine whose cores are all taken: by others like it, perhaps, so that none of them gets more. */
const scarceShare = 0.2;
/** Less of the machine than this idle is none. */
const minIdleShare = 0.1;

/** The account of one runner: all that it may have used for calls is theirs, the remainder is its own. */
export class IdleWatch {
  readonly #options: IdleWatchOptions;
  readonly #cores: number;
  readonly #share: number;
  readonly #idle: () => number;
  #busy = 0;
  #busySince: number | undefined;
  #since: UseSample | undefined;
  #isMeasuring = false;

  constructor(options: IdleWatchOptions) {
    this.#options = options;
    this.#cores = options.cores ?? availableParallelism();
    this.#share = options.share ?? defaultShare;
    this.#idle = options.idle ?? totalCoreIdleMs;
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

  /** True when it has taken too much at rest. Measures no more often than there is something to find. */
  async isOverShare(): Promise<boolean> {
    const since = this.#since;
    const asked = this.#sampleTime();
    if (this.#isMeasuring || (since !== undefined && idleBetween(since, asked) < sampleIdleMs)) {
      return false;
    }
    const idle = this.#idle();
    this.#isMeasuring = true;
    const use = await this.#options.measure().finally(() => this.#isMeasuring = false);
    if (use === undefined) return false;
    this.#since = { ...asked, idle, cpu: use.cpu_ms };
    if (since === undefined) return false;
    // Some systems do not tell, and say 0.
    const isScarce = idle > 0 && idle - since.idle < minIdleShare * this.#cores * (asked.at - since.at);
    // It was measured at some moment until now: what is not certain speaks for the runner.
    const heard = this.#sampleTime();
    const own = use.cpu_ms - since.cpu - (heard.busy - since.busy) * this.#cores;
    return own > (isScarce ? Math.min(scarceShare, this.#share) : this.#share) * idleBetween(since, heard);
  }

  #sampleTime(): TimeSample {
    const at = this.#options.now();
    return { at, busy: this.#busy + (this.#busySince === undefined ? 0 : at - this.#busySince) };
  }
}

function idleBetween(from: TimeSample, to: TimeSample): number {
  return to.at - from.at - (to.busy - from.busy);
}

function totalCoreIdleMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.idle, 0);
}
