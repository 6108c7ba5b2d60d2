// When the process has come to rest, the garbage of its work is collected: V8 keeps it for as long as nothing happens, and
// operators see a server that does nothing hold twice the memory it needs.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const lookMilliseconds = 5_000;
/** Of the processor, in the time between two looks, that is still rest. */
const restingShare = 0.02;
/** A collection takes some 40 ms of processor time; so many of work before it make that little. */
const worthItMilliseconds = 2_000;

/** What it stands on. */
export interface RestParts {
  /** Milliseconds of processor time that the process has taken so far. */
  spent(): number;
  collect(): void;
}

/** Tells rest by the processor time that the process takes: whatever it is that it does not do. */
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

/** V8 offers it to contexts that are made under the flag: this one goes without the name. */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof collect !== 'function') throw new Error('V8 does not offer to collect garbage');
  return () => void collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
