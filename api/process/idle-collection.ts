// Collects garbage when the process is idle. V8 keeps garbage for as long as nothing happens, so operators would see an idle
// server hold twice the memory that it needs.
import { garbageCollector } from './v8-flags.ts';

const checkIntervalMs = 5_000;
/** The share of a processor between two checks that still counts as idle. */
const idleShare = 0.02;
/** Processor time that a process must have used since the last collection, which itself takes some 40 ms. */
const minWorkMs = 2_000;

/** The parts of the process that `IdleCollector` depends on. */
export interface IdleCollectorParts {
  /** The processor time that the process has used so far, in milliseconds. */
  cpuTimeMs(): number;
  collect(): void;
}

/** Collects once whenever the process turns idle after work. Idle means little processor time, whatever it is used for. */
export class IdleGarbageCollector {
  readonly #parts: IdleCollectorParts;
  #lastCheckMs: number;
  #lastCollectionMs = 0;

  constructor(parts: IdleCollectorParts) {
    this.#parts = parts;
    this.#lastCheckMs = parts.cpuTimeMs();
  }

  /** Must be called every five seconds. */
  check(): void {
    const { cpuTimeMs, collect } = this.#parts;
    const now = cpuTimeMs();
    const isIdle = now - this.#lastCheckMs <= idleShare * checkIntervalMs;
    this.#lastCheckMs = now;
    if (!isIdle || now - this.#lastCollectionMs < minWorkMs) return;
    collect();
    this.#lastCheckMs = this.#lastCollectionMs = cpuTimeMs();
  }
}

/** Starts to check this process, until it ends. */
export function collectWhenIdle(): void {
  const collector = new IdleGarbageCollector({ cpuTimeMs, collect: garbageCollector() });
  setInterval(() => collector.check(), checkIntervalMs).unref();
}

function cpuTimeMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
