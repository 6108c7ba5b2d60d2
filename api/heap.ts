// What V8 is told about the memory of an API process.
import { setFlagsFromString } from 'node:v8';

/**
 * Keeps V8 from making objects among the old ones because others of the same place in the code lived long ("allocation
 * site pretenuring"). The rows of lists do while the database is slow, and the guess is for good: from then on, each
 * row that nobody needs any more keeps its texts until the old objects are collected, which is half the CPU time of
 * a list. To be called when the modules are loaded: their compile cache is for the flags that Node began with.
 */
export function keepRowsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
