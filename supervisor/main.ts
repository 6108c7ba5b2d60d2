#!/usr/bin/env node
// The program `bulkhead`.
import { startWithCompileCache } from './compile-cache.ts';

const load = () => import('./commands/command-line.ts');
await startWithCompileCache(load);
// Not before: what is loaded now is loaded from the cache.
const { runCommandLine } = await load();
await runCommandLine();
