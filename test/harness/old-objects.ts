// What of a piece of work ends up among V8's old objects, where only a collection of all finds that nobody needs it; and
// what is held for good.
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The most bytes of old objects that there were at any of its steps, beyond those of its begin. Collects all garbage first. */
export async function oldBytesOf(
  steps: number,
  step: (index: number) => void | Promise<void>,
): Promise<number> {
  collectAll();
  const before = oldBytes();
  let most = 0;
  for (let index = 0; index < steps; index++) {
    await step(index);
    if (index % 500 === 0) most = Math.max(most, oldBytes() - before);
  }
  return most;
}

function oldBytes(): number {
  const spaces = getHeapSpaceStatistics();
  return spaces.find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? Number.NaN;
}

/** Bytes that are in use once all garbage is collected. */
export function heldBytes(): number {
  collectAll();
  return process.memoryUsage().heapUsed;
}

/** Collects all garbage. */
export function collectAll(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}
