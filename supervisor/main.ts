#!/usr/bin/env node
// The program `bulkhead`.
import { startWithCompileCache } from './compile-cache.ts';

await startWithCompileCache();
// Not before: what is loaded now is loaded from the cache.
const { runCommandLine } = await import('./commands/command-line.ts');
await runCommandLine();
