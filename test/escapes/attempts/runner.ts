// Attempts at the runner itself, and at the server through it: 181 to 220.
import { type Attempt, numbered } from './attempt.ts';

/** Other ways to modules and globals. */
const detours: readonly (readonly [string, string])[] = [
  [
    'import out of a new function',
    `new Function('return import("node:fs")')().then((m) => typeof m.readFileSync)`,
  ],
  ['import out of eval', `(0, eval)('import("node:fs")').then((m) => typeof m.readFileSync)`],
  ['import past the hooks’ address', `import('file:///hooks/../etc/passwd')`],
  ['import past it, encoded', `import('./%2e%2e%2f%2e%2e%2fetc%2fpasswd')`],
  ['import of an absolute path', `import('/etc/passwd')`],
  ['import of the runner’s own code', `import('file:///runner/main.js')`],
  [
    'code in a refusal',
    `import('file:///hooks/?refused=' + encodeURIComponent('");globalThis.gained = 1;("')).catch((e) => typeof gained + e.name)`,
  ],
  [
    'import of a blob',
    `import(URL.createObjectURL(new Blob(['import "node:fs"'], { type: 'text/javascript' })))`,
  ],
  ['node: without its prefix', `import('fs')`],
  ['import with a query', `import('node:fs?x')`],
  ['the global object of a function', `typeof Function('return this')().Deno`],
  ['the window behind the global object', `Object.getPrototypeOf(globalThis)?.constructor?.name ?? 'none'`],
  [
    'symbols of the global object',
    `Object.getOwnPropertySymbols(globalThis).map((s) => typeof globalThis[s]).sort().join()`,
  ],
  [
    'the constructor of the runner’s functions',
    `routerAdd.constructor('return typeof Deno + typeof process')()`,
  ],
  ['the constructor of the runner’s errors', `HttpError.constructor.constructor('return typeof process')()`],
  ['the caller of a function', `(function f() { return typeof f.caller; })()`],
];

/** What runs inside the runner's own functions. */
const within: readonly (readonly [string, string])[] = [
  [
    'frames of the stack',
    `(() => {
      Error.prepareStackTrace = (_, sites) => sites.map((s) => typeof s.getThis() + typeof s.getFunction());
      try {
        return [...new Set(new Error().stack)].join();
      } finally {
        delete Error.prepareStackTrace;
      }
    })()`,
  ],
  [
    'setters that catch the runner’s members',
    `(async () => {
      const caught = [];
      for (const name of ['channel', 'socket', 'onread', 'handle', 'descriptor', 'sendText', 'pipe']) {
        Object.defineProperty(Object.prototype, name, { configurable: true, set() { caught.push(name); } });
      }
      console.log('a frame');
      await $app.records.list('posts', {});
      for (const name of ['channel', 'socket', 'onread', 'handle', 'descriptor', 'sendText', 'pipe']) delete Object.prototype[name];
      return caught.join();
    })()`,
  ],
  [
    'a promise that catches the runner’s values',
    `(async () => {
      const { then } = Promise.prototype;
      const caught = [];
      Promise.prototype.then = function (yes, no) {
        return then.call(this, (value) => { caught.push(Object.keys(value ?? {}).join()); return yes?.(value); }, no);
      };
      await $app.records.list('posts', {});
      Promise.prototype.then = then;
      return caught.filter((names) => /channel|send|token/.test(names)).join();
    })()`,
  ],
  [
    'code as a timer',
    `(() => { try { setTimeout('globalThis.gained = typeof Deno', 0); return 'set'; } catch (e) { return e.name; } })()`,
  ],
  [
    'what a timer is',
    `Object.getPrototypeOf(setTimeout(() => {}, 0)).constructor.constructor('return typeof process')()`,
  ],
  ['import.meta', `Object.keys(import.meta).sort().join()`],
  [
    'a real path in import.meta',
    `[import.meta.filename, import.meta.dirname].filter((p) => !p.startsWith('/hooks')).length`,
  ],
];

/** What the server may be asked for. */
const asked: readonly (readonly [string, string])[] = [
  ['a record of another app', `$app.records.findOne('secrets', RECORD)`],
  ['a record of another app, by path', `$app.records.findOne('../' + APP + '/secrets', RECORD)`],
  ['a record of another app, by schema', `$app.records.list(APP + '.secrets', {})`],
  ['another app’s name', `(() => { $app.id = APP; return $app.id === APP; })()`],
  [
    'a look-alike of $app',
    `$app.records.findOne.call({ ...$app, id: APP }, 'secrets', RECORD)`,
  ],
  ['a file of another app', `$app.files.get(FILE)`],
  ['a file of another app, by path', `$app.files.get('../' + APP + '/' + FILE)`],
  ['removal of a file of another app', `$app.files.delete(FILE)`],
  ['password hashes', `$app.records.list('users', { filter: 'password_hash != ""' })`],
  ['tables of the server', `$app.records.list('pg_catalog.pg_authid', {})`],
  [
    'SQL in a filter',
    `$app.records.list('posts', { filter: "1 = 1) union select usename from pg_user --" })`,
  ],
  ['SQL in a sort', `$app.records.list('posts', { sort: 'id; drop table posts' })`],
  ['a collection named __proto__', `$app.records.create('__proto__', { title: 'x' })`],
  ['fetch of the server itself', `fetch('http://localhost:' + PORT).then((r) => r.text())`],
  ['fetch in other spellings', `fetch('http://[::ffff:127.0.0.1]:' + PORT).then((r) => r.text())`],
  ['fetch of a cloud’s metadata', `fetch('http://169.254.169.254/latest/meta-data/').then((r) => r.text())`],
  ['an environment that is not the app’s', `JSON.stringify($app.env)`],
];

/** All of them. */
export const runnerAttempts: readonly Attempt[] = numbered(181, [...detours, ...within, ...asked]);
