// Attempts by what objects lead to, by what the runner calls, and by texts that others read: 221 to 260.
import { type Attempt, numbered } from './attempt.ts';

/** What can be got at from where. */
const reached: readonly (readonly [string, string])[] = [
  [
    'V8’s collector',
    `[typeof gc, typeof globalThis['cron' + 'Add'] === 'function' && cronAdd.name === 'cronAdd' && /native/.test(cronAdd)].join()`,
  ],
  ['a realm of its own', `typeof new ShadowRealm().evaluate('1')`],
  [
    'all that the global object leads to',
    `(() => {
      const seen = new Set();
      const found = new Set();
      const wanted = ['readTextFileSync', 'dlopen', 'getBuiltinModule', '_getActiveHandles', 'ops', 'opAsync', 'writeBuffer', 'env'];
      const look = [globalThis, (async () => {}).constructor, (function* () {}).constructor, (async function* () {}).constructor];
      for (let at = 0; at < look.length && at < 60000; at++) {
        const it = look[at];
        if (it === null || (typeof it !== 'object' && typeof it !== 'function') || seen.has(it)) continue;
        seen.add(it);
        look.push(Object.getPrototypeOf(it));
        for (const key of Reflect.ownKeys(it)) {
          if (wanted.includes(key) && it !== globalThis.$app) found.add(key);
          const { value, get, set } = Object.getOwnPropertyDescriptor(it, key);
          look.push(value, get, set);
          try { if (it === globalThis) look.push(it[key]); } catch { /* nothing behind it */ }
        }
      }
      return [...found].sort().join();
    })()`,
  ],
  [
    'an inspection of its own',
    `(() => {
      let got = 'not asked';
      const inspect = (...given) => {
        got = given.map((it) => typeof it === 'function' ? it.constructor('return typeof process + typeof Deno')() : typeof it).join();
        return '';
      };
      console.log({ [Symbol.for('nodejs.util.inspect.custom')]: inspect });
      return got;
    })()`,
  ],
  [
    'an inspection of Deno’s',
    `(() => {
      let got = 'not asked';
      console.log({ [Symbol.for('Deno.customInspect')]: (...given) => { got = given.map((it) => typeof it).join(); return ''; } });
      return got;
    })()`,
  ],
  [
    'arguments that its own functions are called with',
    `(async () => {
      const caught = new Set();
      const { call, apply, bind } = Function.prototype;
      const note = (args) => { for (const it of args) if (it?.channel || it?.sendText || it?.writeBuffer) caught.add('channel'); };
      Function.prototype.call = function (...args) { note(args); return Reflect.apply(this, args[0], args.slice(1)); };
      Function.prototype.apply = function (self, args) { note([self, ...(args ?? [])]); return Reflect.apply(this, self, args ?? []); };
      Function.prototype.bind = function (...args) { note(args); return Reflect.apply(bind, this, args); };
      try {
        console.log('a frame');
        await new Promise((yes) => later(yes, 20));
      } finally {
        Object.assign(Function.prototype, { call, apply, bind });
      }
      return [...caught].join();
    })()`,
  ],
  [
    'the class of what it is called by',
    `(() => {
      const caught = [];
      for (const name of ['#channel', 'onread', 'oncomplete', 'handle', 'owner', 'parent', 'domain']) {
        Object.defineProperty(Object.prototype, name, { configurable: true, get() { caught.push(typeof this.writeBuffer); } });
      }
      console.log('a frame');
      for (const name of ['#channel', 'onread', 'oncomplete', 'handle', 'owner', 'parent', 'domain']) delete Object.prototype[name];
      return caught.filter((type) => type === 'function').length;
    })()`,
  ],
  [
    'a species of arrays',
    `(() => {
      const caught = [];
      const species = Object.getOwnPropertyDescriptor(Array, Symbol.species);
      Object.defineProperty(Array, Symbol.species, { configurable: true, get() { return class extends Array { constructor(...a) { super(...a); caught.push(this); } }; } });
      console.log('a', 'frame');
      Object.defineProperty(Array, Symbol.species, species);
      return [...new Set(caught.flat().map((it) => typeof it))].sort().join();
    })()`,
  ],
  [
    'iterators of the runner’s arrays',
    `(() => {
      const { [Symbol.iterator]: values } = Array.prototype;
      const caught = new Set();
      Array.prototype[Symbol.iterator] = function () { if (this.some?.((it) => it?.channel || it?.sendText)) caught.add('channel'); return values.call(this); };
      console.log('a', 'frame');
      Array.prototype[Symbol.iterator] = values;
      return [...caught].join();
    })()`,
  ],
  [
    'listeners of the global object',
    `[...new Set(Object.getOwnPropertySymbols(globalThis).flatMap((s) => Object.values(globalThis[s]?.listeners ?? {}).flat()).map(({ callback }) => {
      try { return typeof callback?.constructor('return typeof Deno + typeof process')(); } catch (e) { return e.name; }
    }))].join()`,
  ],
];

/** What modules and evaluation give. */
const evaluated: readonly (readonly [string, string])[] = [
  ['import with attributes', `import('node:fs', { with: { type: 'json' } }).then((m) => typeof m)`],
  ['import of WebAssembly', `import('data:application/wasm;base64,AGFzbQEAAAA=').then((m) => typeof m)`],
  [
    'import as source',
    `new Function('return import.source("data:application/wasm;base64,AGFzbQEAAAA=")')().then((m) => typeof m)`,
  ],
  ['import deferred', `new Function('return import.defer("node:fs")')().then((m) => typeof m.readFileSync)`],
  ['import of Deno’s own modules', `import('ext:core/mod.js').then((m) => Object.keys(m).join())`],
  ['import of a name that is a method', `import('constructor').then((m) => typeof m)`],
  [
    'import of a file with another’s address',
    `import('file://localhost/hooks/../../etc/passwd').then((m) => typeof m)`,
  ],
  [
    'import by an object that changes',
    `(() => { let n = 0; return import({ toString: () => n++ === 0 ? './attempts.js' : 'node:fs' }).then((m) => typeof m.readFileSync); })()`,
  ],
  ['natives syntax of this engine', `new Function('return %DebugPrint(1)')()`],
  ['a debugger', `(() => { debugger; return 'none'; })()`],
];

/** What tells of the machine, or outlives the code. */
const lasting: readonly (readonly [string, string])[] = [
  [
    'the time zone',
    `Intl.DateTimeFormat().resolvedOptions().timeZone.length > 0 && typeof new Date().getTimezoneOffset()`,
  ],
  [
    'names that keep things',
    `Object.getOwnPropertyNames(globalThis).filter((n) => /storage|cache|kv|sqlite|database/i.test(n)).sort().join()`,
  ],
  ['a lock', `navigator.locks.request('x', () => 'taken')`],
  ['a database of the browser', `typeof indexedDB.open('x')`],
  ['storage by its class', `typeof Storage + typeof CacheStorage + typeof Cache`],
  ['a channel by its class', `new MessageChannel().port1.constructor.name`],
  [
    'a worker out of a blob',
    `(() => {
      const it = new Worker(URL.createObjectURL(new Blob([''])), { type: 'module' });
      it.onerror = (event) => event.preventDefault();
      it.terminate();
      return typeof it;
    })()`,
  ],
  ['a blob’s address in fetch', `fetch(URL.createObjectURL(new Blob(['own']))).then((r) => r.text())`],
  [
    'a blob of another process',
    `fetch('blob:null/00000000-0000-4000-8000-000000000000').then((r) => r.text())`,
  ],
  ['a data: address in fetch', `fetch('data:text/plain,own').then((r) => r.text())`],
];

/** What the server is told. */
const told: readonly (readonly [string, string])[] = [
  ['NUL as an id', `$app.records.findOne('posts', '\\0')`],
  ['NUL in a filter', `$app.records.list('posts', { filter: "title = '\\0'" }).then((l) => l.items.length)`],
  [
    'NUL in a record',
    `$app.records.create('posts', { title: 'a\\0b' }).then(({ fields }) => fields.title.length)`,
  ],
  [
    'half a character in a record',
    `$app.records.create('posts', { title: 'a\\ud800b' }).then(({ fields }) => fields.title.length)`,
  ],
  ['NUL as a user', `$app.users.findOne('\\0')`],
  [
    'NUL in the name of a file',
    `$app.files.create({ filename: 'a\\0b.txt', mime: 'text/plain', content: 'x' }).then(({ filename }) => filename.length)`,
  ],
  [
    'lines in the type of a file',
    `$app.files.create({ filename: 'a', mime: 'text/html\\r\\nSet-Cookie: a=1', content: 'x' }).then(({ mime }) => mime)`,
  ],
  ['an event with NUL in it', `$app.realtime.publish('posts', 'x', { title: 'a\\0b\\ud800' })`],
  ['an event with lines in its name', `$app.realtime.publish('posts', 'x\\nid: 1', {})`],
  [
    'fetch with a name before the host',
    `fetch('http://example.com:80@localhost:' + PORT + '/').then((r) => r.text())`,
  ],
];

/** All of them. */
export const reflectionAttempts: readonly Attempt[] = numbered(221, [
  ...reached,
  ...evaluated,
  ...lasting,
  ...told,
]);
