// Collects garbage when the process has come to rest: V8 keeps it for as long as nothing happens, and operators would see an
// idle server hold twice the memory it needs.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const lookMilliseconds = 5_000;
/** The share of a processor between two looks that still counts as rest. */
const restingShare = 0.02;
/** A collection takes some 40 ms of processor time, which is little after this much work. */
const worthItMilliseconds = 2_000;

/** What it depends on. */
export interface RestParts {
  /** Milliseconds of processor time that the process has taken so far. */
  spent(): number;
  collect(): void;
}

/** Recognises rest by the processor time that the process takes, whatever kind of work it spends it on. */
export class Rest {
  readonly #parts: RestParts;
  #before: number;
  #collectedAt = 0;

  constructor(parts: RestParts) {
    this.#parts = parts;
    this.#before = parts.spent();
  }

  /** To be called every five seconds. */
  look(): void {
    const { spent, collect } = this.#parts;
    const now = spent();
    const rests = now - this.#before <= restingShare * lookMilliseconds;
    this.#before = now;
    if (!rests || now - this.#collectedAt < worthItMilliseconds) return;
    collect();
    this.#before = this.#collectedAt = spent();
  }
}

/** Looks for as long as the process lives. */
export function collectAtRest(): void {
  const collect = collector();
  const rest = new Rest({ spent: spentMilliseconds, collect });
  setInterval(() => rest.look(), lookMilliseconds).unref();
}

function spentMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Contexts made while the flag is set have V8's collector as `gc`; the program's own context is to stay without it. */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof collect !== 'function') throw new Error('V8 does not offer to collect garbage');
  return () => void collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
