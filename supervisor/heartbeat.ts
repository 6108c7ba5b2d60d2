// Whether a process that runs does anything: one that hangs keeps its port open, and nobody hears of it.
import { setTimeout as pause } from 'node:timers/promises';

/** How a process is watched. Milliseconds. */
export interface PulseRules {
  /** Between two questions. */
  every: number;
  /** It is given up when it has answered nothing for so long. */
  patience: number;
}

/** Longer than anything that an API process does between two messages, on a busy machine too. */
export const corePulse: PulseRules = { every: 3_000, patience: 30_000 };

/** Asks a process again and again for a sign of life. */
export class Pulse {
  readonly #rules: PulseRules;
  #silent = 0;

  constructor(rules: PulseRules) {
    this.#rules = rules;
  }

  /** It has answered. */
  heard(): void {
    this.#silent = 0;
  }

  /** Rejects once it is silent for too long, or when the watch has `ended`. */
  async watch(ask: () => void, ended: AbortSignal): Promise<never> {
    const { every, patience } = this.#rules;
    this.#silent = 0;
    while (this.#silent < patience) {
      ask();
      const before = performance.now();
      await pause(every, undefined, { signal: ended });
      // Late ourselves: the machine was suspended or has too much to do, and the process had no chance to answer.
      this.#silent = performance.now() - before > 2 * every ? 0 : this.#silent + every;
    }
    throw new Error(`did not answer for ${patience / 1_000} s`);
  }
}
