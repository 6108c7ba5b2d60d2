// Attempts to gain permissions, and at what lies below: 164 to 180.
import { type Attempt, numbered } from './attempt.ts';

/** A worker of `code`, and the first thing that it says. */
const worker = (code: string) =>
  `new Promise((yes, no) => {
    const it = new Worker('data:text/javascript,' + encodeURIComponent(${
    JSON.stringify(code)
  }), { type: 'module' });
    it.onmessage = ({ data }) => { it.terminate(); yes(data); };
    it.onerror = (event) => { event.preventDefault(); it.terminate(); no(new Error(event.message)); };
  })`;

/** Permissions, workers, internals, evaluation. */
export const privilegeAttempts: readonly Attempt[] = numbered(164, [
  ['a request for reading', `(await Deno.permissions.request({ name: 'read' })).state`],
  ['a request for the network', `(await Deno.permissions.request({ name: 'net' })).state`],
  ['a revocation', `(await Deno.permissions.revoke({ name: 'read' })).state`],
  [
    'a worker that reads',
    worker(`try { postMessage(Deno.readTextFileSync('/etc/passwd')) } catch (e) { postMessage(e.name) }`),
  ],
  [
    'a worker of a file',
    `new Promise((yes, no) => {
      const it = new Worker('file:///etc/passwd', { type: 'module' });
      it.onerror = (event) => { event.preventDefault(); it.terminate(); no(new Error('refused')); };
    })`,
  ],
  ['Deno.internal', `typeof Deno[Deno.internal]`],
  ['Deno.core', `typeof Deno.core + typeof __bootstrap`],
  ['the fs binding', `typeof process.binding('fs')`],
  [
    'WASI with /',
    `typeof new (await import('node:wasi')).WASI({ version: 'preview1', preopens: { '/': '/' } })`,
  ],
  ['node:vm', `(await import('node:vm')).runInNewContext('typeof Deno + typeof process')`],
  ['WebAssembly', `typeof new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))`],
  ['eval', `new Function('return 7')()`],
  ['Deno by another way', `(0, eval)('typeof Deno + typeof process')`],
  ['navigator.gpu', `typeof await navigator.gpu.requestAdapter()`],
  ['Deno.bundle', `typeof Deno.bundle`],
  ['prompt', `prompt('bait')`],
  ['Deno.exit', `typeof Deno.exit`],
]);
