// The heartbeat of a child process: detects one that runs but hangs, as its port stays open and nothing else shows it.
import { setTimeout as pause } from 'node:timers/promises';

/** The rules of a heartbeat. Milliseconds. */
export interface HeartbeatRules {
  /** The time between two pings. */
  intervalMs: number;
  /** The process counts as hung after so long without a pong. */
  timeoutMs: number;
}

/** The rules for API processes. Nothing they do between two messages takes so long, even on a busy machine. */
export const apiHeartbeat: HeartbeatRules = { intervalMs: 3_000, timeoutMs: 30_000 };

/** Pings a process until it no longer responds. */
export class Heartbeat {
  readonly #rules: HeartbeatRules;
  #silentMs = 0;

  constructor(rules: HeartbeatRules) {
    this.#rules = rules;
  }

  /** To be called for every pong. */
  beat(): void {
    this.#silentMs = 0;
  }

  /** Calls `ping` at each interval. Rejects when no pong has arrived for `timeoutMs`, or when `ended` is aborted. */
  async watch(ping: () => void, ended: AbortSignal): Promise<never> {
    const { intervalMs: every, timeoutMs: patience } = this.#rules;
    this.#silentMs = 0;
    while (this.#silentMs < patience) {
      ping();
      const before = performance.now();
      await pause(every, undefined, { signal: ended });
      // This timer itself was late: the machine was suspended or is overloaded, and the process had no chance to respond.
      this.#silentMs = performance.now() - before > 2 * every ? 0 : this.#silentMs + every;
    }
    throw new Error(`did not respond for ${patience / 1_000} s`);
  }
}
