#!/usr/bin/env node
// The executable of the package. Whatever Node there is reads it, so nothing here is newer than Node 18, nor TypeScript.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The oldest Node that the server runs on; `engines` in package.json says the same. */
const oldestMajor = 24;

// A checkout has the sources; a package has what was built of them, since Node reads no TypeScript below node_modules.
const source = new URL('main.ts', import.meta.url);
const main = existsSync(source) ? source : new URL('../dist/supervisor/main.js', import.meta.url);

if (Number(process.versions.node.split('.')[0]) >= oldestMajor) await import(main.href);
else goOn(findPinnedNode());

/** Runs the program under another Node, with the signals of this process, and ends as it does. */
function goOn(node) {
  if (node === undefined) {
    console.error(
      `bulkhead: this is Node ${process.versions.node}, and Node ${oldestMajor} or newer is needed: ` +
        'install it, or allow the install script of the package "node"',
    );
    process.exit(1);
  }
  const child = spawn(node, [fileURLToPath(main), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** The Node that the package `node` fetches when it is installed; undefined where it could not. */
function findPinnedNode() {
  try {
    const home = dirname(createRequire(import.meta.url).resolve('node/package.json'));
    const binary = join(home, 'bin', 'node');
    return existsSync(binary) ? binary : undefined;
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    return undefined;
  }
}
