// How much memory V8's young objects may take in an API process at work.
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Of one of the two halves, in bytes. V8 by itself goes up to twice as much while many requests are under way. */
const mostYoung = 16 * 1_048_576;

/**
 * Gives young objects room as V8 would, up to the limit: a server that is at work soon drops most of what it makes. The
 * flag for the limit itself counts on the command line only, and V8 compiles anew what was compiled under other flags; by
 * how much to grow it asks at a collection, and doubles only after several of them.
 */
export function letYoungHeapGrow(): void {
  let growth = growthAfter(youngCapacity());
  setGrowth(growth);
  const collections = new PerformanceObserver(() => {
    // Back again, too: V8 takes room away from a server that rests.
    const next = growthAfter(youngCapacity());
    if (next !== growth) setGrowth(next);
    growth = next;
  });
  collections.observe({ entryTypes: ['gc'] });
}

/** What one half may hold as of now, in bytes: V8 takes the memory for it only when objects come. */
export function youngCapacity(): number {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  return young === undefined ? 0 : young.space_used_size + young.space_available_size;
}

function growthAfter(capacity: number): number {
  return 2 * capacity <= mostYoung ? 2 : 1;
}

function setGrowth(growth: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${growth}`);
}
