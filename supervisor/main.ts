#!/usr/bin/env node
// The program `bulkhead`.
import './small-heap.ts';
import { startWithCompileCache } from './compile-cache.ts';
import { closeInheritedDescriptors } from './inherited-descriptors.ts';

// With umask 0, other users could write to the folder of Node's compile cache, and so run code in the server.
process.umask(process.umask(0o022) | 0o022);

closeInheritedDescriptors();

const load = () => import('./commands/command-line.ts');
await startWithCompileCache(load);
// Imported only now, as the cache is enabled.
const { runCommandLine } = await load();
await runCommandLine();
