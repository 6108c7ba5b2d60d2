// Whether a process that runs does anything: one that hangs keeps its port open, and nobody hears of it.
import { setTimeout as pause } from 'node:timers/promises';

/** How a process is watched. Milliseconds. */
export interface HeartbeatRules {
  /** Between two questions. */
  intervalMs: number;
  /** It is given up when it has answered nothing for so long. */
  timeoutMs: number;
}

/** Longer than anything that an API process does between two messages, on a busy machine too. */
export const apiHeartbeat: HeartbeatRules = { intervalMs: 3_000, timeoutMs: 30_000 };

/** Asks a process again and again for a sign of life. */
export class Heartbeat {
  readonly #rules: HeartbeatRules;
  #silentMs = 0;

  constructor(rules: HeartbeatRules) {
    this.#rules = rules;
  }

  /** It has answered. */
  beat(): void {
    this.#silentMs = 0;
  }

  /** Rejects once it is silent for too long, or when the watch has `ended`. */
  async watch(ask: () => void, ended: AbortSignal): Promise<never> {
    const { intervalMs: every, timeoutMs: patience } = this.#rules;
    this.#silentMs = 0;
    while (this.#silentMs < patience) {
      ask();
      const before = performance.now();
      await pause(every, undefined, { signal: ended });
      // Late ourselves: the machine was suspended or has too much to do, and the process had no chance to answer.
      this.#silentMs = performance.now() - before > 2 * every ? 0 : this.#silentMs + every;
    }
    throw new Error(`did not answer for ${patience / 1_000} s`);
  }
}
