// How much memory V8 takes in a supervisor: set before anything else of it is loaded.
import { setFlagsFromString } from 'node:v8';

// A supervisor waits: optimized code would never pay for the 10 MB that V8's optimizing compilers take, nor a young half
// of the heap that grows for the 5 MB of that. It is also what each process that it starts begins as a copy of (fork(2)),
// which takes 45 µs for each MiB that was written to.
const small = ['--no-opt', '--no-maglev', '--no-sparkplug', '--semi-space-growth-factor=1'];
for (const flag of small) setFlagsFromString(flag);
