// What V8 is told about the memory of an API process. Preloaded, before anything else is.
import { setFlagsFromString } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

// Most of what loading makes is kept, which V8 takes for a reason to give the young objects 14 MB. It never takes them
// back from a server that rests. On the command line the flag is heeded only from 2 on. Flags count for all threads, and
// each loads what is preloaded.
if (isMainThread) setFlagsFromString('--semi-space-growth-factor=1');

/**
 * Keeps V8 from making objects among the old ones because others of the same place in the code lived long ("allocation
 * site pretenuring"). The rows of lists do while the database is slow, and the guess is for good: from then on, each
 * row that nobody needs any more keeps its texts until the old objects are collected, which is half the CPU time of
 * a list. To be called when the modules are loaded: their compile cache is for the flags that they were loaded under.
 */
export function keepRowsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
