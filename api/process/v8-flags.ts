// V8's flags about the memory of an API process. Preloaded: it runs before any other module is loaded.
import { setFlagsFromString } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

// Most objects that loading makes survive, so V8 would let the young generation grow to 14 MB, and it never shrinks while the
// server rests. On the command line V8 ignores a factor below 2. Flags hold for all threads, and preloaded modules run in
// each thread, so only the main one sets it.
if (isMainThread) setFlagsFromString('--semi-space-growth-factor=1');

/**
 * Keeps V8 from allocating objects in the old generation because earlier ones from the same place in the code lived long
 * ("allocation site pretenuring"). While the database is slow the rows of lists do live long, and V8 never takes its guess
 * back: from then on each row holds its texts until the next full collection, which costs half the CPU time of a list. To
 * be called once the modules are loaded, because their compile cache belongs to the flags that they were loaded under.
 */
export function keepRowsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
