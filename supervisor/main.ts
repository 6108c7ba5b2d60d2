#!/usr/bin/env node
// The program `bulkhead`.
import './small-heap.ts';
import { startWithCompileCache } from './compile-cache.ts';

// No umask makes folders that others may write to: Node would put compiled code into one, and run it the next time.
process.umask(process.umask(0o022) | 0o022);

const load = () => import('./commands/command-line.ts');
await startWithCompileCache(load);
// Not before: what is loaded now is loaded from the cache.
const { runCommandLine } = await load();
await runCommandLine();
