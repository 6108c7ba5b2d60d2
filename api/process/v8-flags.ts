// The flags of V8 that an API process sets for itself. Preloaded: it runs before any other module is loaded.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

// Most objects that loading makes survive, so V8 would let the young generation grow to 14 MB, which it does not give back
// before the server has worked. On the command line V8 ignores a factor below 2. Flags hold for all threads, and each thread
// preloads this module, so only the main one sets it.
if (isMainThread) setYoungGrowth(1);

/** Sets the flags of a process that serves. Call it once the modules are loaded: V8's compile cache belongs to the flags. */
export function setServingFlags(): void {
  setYoungGrowth(2);
  // V8 allocates objects in the old generation when earlier ones from the same place in the code lived long. Rows of lists do
  // while the database is slow, and V8 never takes its guess back: each row would then keep its texts until the next full
  // collection, which costs half the CPU time of a list.
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/**
 * Keeps the heap small while a process works on batches, or lets it grow again. The objects of a batch outlive a few collections of
 * the young generation, so the old one fills with them: V8 would let it grow to three times of what lives before it collects.
 */
export function keepHeapSmall(isSmall: boolean): void {
  setYoungGrowth(isSmall ? 1 : 2);
  setFlagsFromString(`--heap-growing-percent=${isSmall ? 20 : 0}`);
}

/**
 * V8's full garbage collection. Contexts that are made while the flag is set have it as `gc`; the program's own context stays
 * without it. Throws when V8 does not offer it.
 */
export function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof collect !== 'function') throw new Error('V8 does not offer to collect garbage');
  return () => void collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** By which factor V8 enlarges the young generation when many objects survive; V8's own is 2. */
function setYoungGrowth(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}
