// Attempts to import what is not the app's: 42 to 65.
import { type Attempt, numbered } from './attempt.ts';

/** A module made at run time, which then imports statically. */
const from = (code: string) =>
  `import('data:text/javascript,' + encodeURIComponent(${code})).then((m) => m.default)`;

/** Of the machine, of the network, and of packages. */
export const importAttempts: readonly Attempt[] = numbered(42, [
  ['import of /etc/passwd', `import('file:///etc/passwd')`],
  ['import of a module elsewhere', `import('file://' + DIR + '/secret.js').then((m) => m.default)`],
  ['a static import of a module elsewhere', from(`'export { default } from "file://' + DIR + '/secret.js"'`)],
  ['a static import of another app', from(`'import "file://' + OTHER + '"; export default 1'`)],
  [
    'a static import of JSON',
    from(
      `'import x from "file://' + DIR + '/secret.json" with { type: "json" }; export default JSON.stringify(x)'`,
    ),
  ],
  [
    'import of JSON',
    `import('file://' + DIR + '/secret.json', { with: { type: 'json' } }).then((m) => JSON.stringify(m.default))`,
  ],
  [
    'import of a text',
    `import('file://' + DIR + '/secret.txt', { with: { type: 'text' } }).then((m) => m.default)`,
  ],
  [
    'import of bytes',
    `import('file://' + DIR + '/secret.txt', { with: { type: 'bytes' } }).then((m) => String(m.default))`,
  ],
  [
    'import out of node_modules',
    `import('file://' + DIR + '/node_modules/pkg/index.js').then((m) => m.default)`,
  ],
  ['a data: module that imports a file', from(`'import "file:///etc/passwd"; export default 1'`)],
  [
    'a data: module that imports JSON',
    from(`'import x from "file:///etc/passwd" with { type: "json" }; export default x'`),
  ],
  ['import by https', `import('https://deno.land/std@0.224.0/path/mod.ts')`],
  ['import by http from this machine', `import('http://127.0.0.1:' + PORT + '/x.js')`],
  ['import from npm', `import('npm:left-pad')`],
  ['import from jsr', `import('jsr:@std/path')`],
  ['a bare import', `import('left-pad')`],
  [
    'require of JSON',
    `(await import('node:module')).createRequire('file://' + DIR + '/x.js')('./secret.json').value`,
  ],
  [
    'require of a module',
    `(await import('node:module')).createRequire('file://' + DIR + '/x.js')('./secret.cjs')`,
  ],
  ['require of a package', `(await import('node:module')).createRequire('file://' + DIR + '/x.js')('pkg')`],
  [
    'require.resolve of /etc/passwd',
    `(await import('node:module')).createRequire('file:///x.js').resolve('/etc/passwd')`,
  ],
  [
    'require.resolve of a package',
    `(await import('node:module')).createRequire('file://' + DIR + '/x.js').resolve('pkg')`,
  ],
  ['import.meta.resolve', `typeof import.meta.resolve('./x.js')`],
  [
    'module.registerHooks',
    `(async () => {
      const hooks = (await import('node:module')).registerHooks({ resolve: (name, context, next) => next(name, context) });
      hooks.deregister();
      return typeof hooks;
    })()`,
  ],
  [
    'module.findPackageJSON',
    `(await import('node:module')).findPackageJSON('pkg', 'file://' + DIR + '/x.js')`,
  ],
]);
