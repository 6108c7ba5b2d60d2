// Attempts to start, load or signal something, and at the environment: 97 to 123.
import { type Attempt, numbered } from './attempt.ts';

/** Programs, libraries, signals, variables. */
export const processAttempts: readonly Attempt[] = numbered(97, [
  ['Deno.Command', `new Deno.Command('/usr/bin/id').outputSync().code`],
  ['child_process.execSync', `String((await import('node:child_process')).execSync('id'))`],
  [
    'child_process.spawn',
    `(async () => {
      const it = (await import('node:child_process')).spawn('/usr/bin/id', { env: {} });
      return await new Promise((yes, no) => {
        it.on('error', no);
        it.on('exit', yes);
      });
    })()`,
  ],
  ['child_process.fork', `(await import('node:child_process')).fork('/etc/passwd').pid > 0`],
  ['the spawn binding', `typeof process.binding('spawn_sync')`],
  ['cluster.fork', `(await import('node:cluster')).default.fork().process.pid > 0`],
  ['Deno.dlopen', `typeof Deno.dlopen('libc.so.6', { getpid: { parameters: [], result: 'i32' } })`],
  ['process.dlopen', `process.dlopen({ exports: {} }, 'libc.so.6')`],
  [
    'a native module',
    `(await import('node:module')).createRequire('file://' + DIR + '/x.js')('./native.node')`,
  ],
  ['node:ffi', `Object.keys(await import('node:ffi')).length >= 0`],
  ['Deno.UnsafePointer', `typeof Deno.UnsafePointer.create(1n)`],
  ['Deno.UnsafePointerView', `new Deno.UnsafePointerView(Deno.UnsafePointer.create(65536n)).getUint8()`],
  ['Deno.kill of a stranger', `Deno.kill(VICTIM, 'SIGKILL')`],
  ['process.kill of a stranger', `process.kill(VICTIM, 'SIGKILL')`],
  ['process.kill of itself, by nothing', `process.kill(process.pid, 0)`],
  ['process.setuid', `process.setuid(0)`],
  ['Deno.umask', `Deno.umask(0)`],
  ['os.setPriority', `(await import('node:os')).setPriority(-20)`],
  ['a handler of SIGTERM', `typeof Deno.addSignalListener('SIGTERM', () => {})`],
  ['a handler of uncaught errors', `typeof process.on('uncaughtException', () => {})`],
  ['Deno.env.get', `Deno.env.get('BAIT')`],
  ['Deno.env.toObject', `JSON.stringify(Deno.env.toObject())`],
  ['process.env.BAIT', `String(process.env.BAIT)`],
  ['keys of process.env', `Object.keys(process.env).join()`],
  ['Deno.env.set', `Deno.env.set('BAIT', 'x')`],
  ['process.loadEnvFile', `process.loadEnvFile(DIR + '/.env')`],
  [
    'worker_threads with the environment',
    `(async () => {
      const { Worker, SHARE_ENV } = await import('node:worker_threads');
      const code = 'require("node:worker_threads").parentPort.postMessage(String(process.env.BAIT))';
      const it = new Worker(code, { eval: true, env: SHARE_ENV });
      return await new Promise((yes, no) => {
        it.on('message', (text) => { it.terminate(); yes(text); });
        it.on('error', no);
      });
    })()`,
  ],
]);
