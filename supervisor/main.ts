#!/usr/bin/env node
// The program `bulkhead`.
import { setFlagsFromString } from 'node:v8';
import { startWithCompileCache } from './compile-cache.ts';

// A supervisor waits: optimized code would never pay for the 10 MB that V8's optimizing compilers take, nor a young half
// of the heap that grows for the 5 MB of that.
const small = ['--no-opt', '--no-maglev', '--no-sparkplug', '--semi-space-growth-factor=1'];
for (const flag of small) setFlagsFromString(flag);

// No umask makes folders that others may write to: Node would put compiled code into one, and run it the next time.
process.umask(process.umask(0o022) | 0o022);

const load = () => import('./commands/command-line.ts');
await startWithCompileCache(load);
// Not before: what is loaded now is loaded from the cache.
const { runCommandLine } = await load();
await runCommandLine();
