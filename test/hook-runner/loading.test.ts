// How a runner loads the app's files, and what it says of those that it cannot.
import { describe, expect, it } from 'vitest';
import { startForTest } from './runner.ts';

describe('the loader of the hook runner', () => {
  it('reports what each file registered, in order of names and then of registration', async () => {
    const runner = await startForTest();
    const { files, errors } = await runner.load({
      'a.ts': `import { watch } from './z.ts';
        watch('orders');
        routerAdd('get', '/orders/:id/{line}/*', () => 1);`,
      'b.js': `cronAdd('nightly', '0 3 * * *', () => {});
        onRecordAfterDelete('notes', () => {});`,
      'z.ts': `export const watch = (name: string) => onRecordBeforeCreate(name, () => {});`,
    });
    expect(errors).toEqual([]);
    expect(files).toEqual([
      {
        file: 'a.ts',
        hooks: [{ event: 'before_create', collection: 'orders' }],
        routes: [{
          method: 'GET',
          path: '/orders/:id/{line}/*',
          segments: [
            { kind: 'literal', value: 'orders' },
            { kind: 'param', name: 'id' },
            { kind: 'param', name: 'line' },
            { kind: 'rest' },
          ],
        }],
        jobs: [],
      },
      {
        file: 'b.js',
        hooks: [{ event: 'after_delete', collection: 'notes' }],
        routes: [],
        jobs: [{ name: 'nightly', expression: '0 3 * * *' }],
      },
      { file: 'z.ts', hooks: [], routes: [], jobs: [] },
    ]);
  });

  it('takes files of any legal name, and finds places in them', async () => {
    const runner = await startForTest();
    const names = ['a b.js', 'a:b.ts', 'a%20b.js', 'a%2520b.ts', '50%.js', 'q?x#y.js', "it's (1).ts", 'é.js'];
    const source = (name: string) =>
      `\nrouterAdd('GET', '/' + ${names.indexOf(name)}, () => { throw new Error('odd'); });`;
    const { files, errors } = await runner.load(
      Object.fromEntries(names.map((name) => [name, source(name)])),
    );
    expect(errors).toEqual([]);
    expect(files.map(({ file }) => file)).toEqual(names);
    for (const [index, file] of names.entries()) {
      const result = await runner.next('result', runner.request(`GET /${index}`));
      expect(result).toMatchObject({
        faults: [{ message: 'Error: odd', file, line: 2, column: 41, stack: `at ${file}:2:41` }],
      });
    }
  });

  it('keeps good files when another fails, of which nothing stays', async () => {
    const runner = await startForTest();
    const { files, errors } = await runner.load({
      'bad.ts': `onRecordBeforeCreate('orders', () => false);\nthrow new TypeError('not today');`,
      'good.ts': `onRecordBeforeCreate('orders', (e) => { e.record.fields.total = 1; });`,
    });
    expect(files.map(({ file }) => file)).toEqual(['good.ts']);
    expect(errors).toEqual([
      { message: 'TypeError: not today', file: 'bad.ts', line: 2, column: 7, stack: 'at bad.ts:2:7' },
    ]);
    expect(await runner.event('before_create')).toMatchObject({ outcome: 'done', changes: { total: 1 } });
  });

  it.each([
    [
      `import fs from 'node:fs';console.log(fs);`,
      'hook files import each other as "./name.ts", and nothing else',
      16,
    ],
    [`import 'npm:left-pad';`, 'and nothing else', 8],
    [`import 'https://example.com/x.ts';`, 'and nothing else', 8],
    [`import 'left-pad';`, 'and nothing else', 8],
    [`import '../../etc/passwd';`, 'and nothing else', 8],
    [`import 'file:///etc/passwd';`, 'and nothing else', 8],
    [`export * from 'data:text/javascript,1';`, 'and nothing else', 15],
    [`import './none.ts';`, 'the app has no file "none.ts"', 8],
    [`import a from './a.json' with { type: 'json' }; a;`, 'no file "a.json", and all end in .ts or .js', 15],
    [`import a from './a.txt' with { type: 'text' }; a;`, 'no file "a.txt", and all end in .ts or .js', 15],
    [
      `await import('./a.txt', { with: { type: 'text' } });`,
      'no file "a.txt", and all end in .ts or .js',
      14,
    ],
    [`import './other';`, 'write the whole name, "./other.ts"', 8],
    [`import './other.js';`, 'write the whole name, "./other.ts"', 8],
  ])('hook.imports: %s is refused at its place', async (source, message, column) => {
    const { errors } = await (await startForTest()).load({ 'a.ts': source, 'other.ts': 'export {};' });
    expect(errors).toEqual([
      expect.objectContaining({ message: expect.stringContaining(message), file: 'a.ts', line: 1, column }),
    ]);
  });

  it('hook.imports: refuses dynamic imports of anything but the app’s files, however they are asked for', async () => {
    const runner = await startForTest();
    await runner.load({
      'a.ts': `
        const blob = () => URL.createObjectURL(new Blob(['export {}'], { type: 'text/javascript' }));
        const tries = [
          () => import('node:net'), () => import('data:text/javascript,1'), () => import(blob()),
          () => new Function('return import("node:fs")')(), () => (0, eval)('import("node:module")'),
        ];
        routerAdd('GET', '/tries', async () => {
          const answers = await Promise.allSettled(tries.map((one) => one()));
          const own = await import('./b.ts');
          return { refused: answers.map(({ status }) => status), own: own.b };
        });
        routerAdd('GET', '/text', async () => {
          return import('file:///proc/self/environ', { with: { type: 'text' } }).catch((error) => error.message);
        });`,
      'b.ts': `export const b = 'own';`,
    });
    const { body } = await runner.next('response', runner.request('GET /tries'));
    expect(body).toEqual({ text: JSON.stringify({ refused: Array(5).fill('rejected'), own: 'own' }) });
    const text = await runner.next('response', runner.request('GET /text'));
    expect(text.body).toEqual({ text: expect.stringContaining('and nothing else') });
  });

  it('explains a ring of imports that cannot be evaluated', async () => {
    const { errors } = await (await startForTest()).load({
      'a.ts': `import { b } from './b.ts';\nexport const a = b + 1;`,
      'b.ts': `import { a } from './a.ts';\nexport const b = a + 1;`,
    });
    const messages = errors.map(({ message }) => message).sort();
    expect(messages).toEqual([
      expect.stringMatching(/before initialization .* in a ring: ([ab])\.ts → [ab]\.ts → \1\.ts\)$/),
      expect.stringMatching(/^[ab]\.ts, which it imports, did not load$/),
    ]);
  });

  it('lets files import each other in a ring, and types as values', async () => {
    const { files, errors } = await (await startForTest()).load({
      'a.ts':
        `import { b, Shape } from './b.ts';\nexport const a = (): Shape => ({ n: 1 });\nexport const c = () => b();`,
      'b.ts':
        `import { a } from './a.ts';\nexport interface Shape { n: number }\nexport const b = () => a().n;`,
    });
    expect(errors).toEqual([]);
    expect(files).toHaveLength(2);
  });

  it('holds up no other file when top-level code does not end', async () => {
    const { files, errors } = await (await startForTest()).load({
      'a.ts': 'await new Promise(() => {});',
      'b.ts': `import './a.ts';`,
      'c.ts': `onRecordAfterCreate('orders', () => {});`,
    }, { load_ms: 200 });
    expect(files.map(({ file }) => file)).toEqual(['c.ts']);
    expect(errors.map(({ file, message }) => [file, message])).toEqual([
      ['a.ts', 'its top-level code did not finish within 200 ms'],
      ['b.ts', 'a.ts, which it imports, did not load'],
    ]);
  });

  it.each([
    [`onRecordBeforeCreate('orders');`, 'the handler must be a function'],
    [`onRecordBeforeCreate(7, () => {});`, 'the collection must be a text'],
    [`onRecordBeforeCreate('x'.repeat(600), () => {});`, 'the collection must be a text of 1 to 512'],
    [`routerAdd('GET POST', '/x', () => {});`, 'is no method that a route can have'],
    [`routerAdd('PROPFIND', '/x', () => {});`, 'is no method that a route can have: GET, HEAD, POST'],
    [`routerAdd('GET', '', () => {});`, 'the path must be a text of 1 to 512'],
    [`routerAdd('GET', '/a/*/b', () => {});`, '"*" stands only at the end'],
    [`routerAdd('GET', '/a//b', () => {});`, 'nothing between two slashes'],
    [`routerAdd('GET', '/:a/:a', () => {});`, 'names "a" twice'],
    [`routerAdd('GET', '/x', () => 1); routerAdd('GET', '/x', () => 2);`, 'registered already'],
    [`cronAdd('', '* * * * *', () => {});`, 'the name must be a text'],
    [`cronAdd('x'.repeat(129), '@daily', () => {});`, 'has at most 128 characters'],
    [`cronAdd('x', '0' + ',0'.repeat(130) + ' * * * *', () => {});`, 'its expression 256'],
  ])('refuses to register %s', async (source, message) => {
    const { errors } = await (await startForTest()).load({ 'a.ts': source });
    expect(errors[0]).toMatchObject({
      message: expect.stringContaining(message),
      file: 'a.ts',
      line: 1,
    });
  });

  it('takes what a file registered that does not load for registered by nobody', async () => {
    const runner = await startForTest();
    const { files, errors } = await runner.load({
      'a.ts': `routerAdd('GET', '/x', () => 'a');
        for (let i = 0; i < 9; i++) onRecordAfterCreate('orders', () => {});
        throw new Error('not today');`,
      'b.ts': `routerAdd('GET', '/x', () => 'b');\ncronAdd('j', '@daily', () => {});`,
      'c.ts': `cronAdd('j', '@daily', () => {});\nrouterAdd('GET', '/y', () => 'c');`,
      'd.ts': `routerAdd('GET', '/y', () => 'd');`,
      'e.ts': `for (let i = 0; i < 8; i++) onRecordAfterCreate('orders', () => {});`,
    }, { registrations: 10 });
    expect(files.map(({ file }) => file)).toEqual(['b.ts', 'd.ts']);
    expect(errors.map(({ file, message, line }) => [file, message, line])).toEqual([
      ['a.ts', 'Error: not today', 3],
      ['c.ts', 'Error: the job j is registered already, by b.ts', 1],
      ['e.ts', 'RangeError: an app has at most 10 hooks, routes and jobs', 1],
    ]);
    const { body } = await runner.next('response', runner.request('GET /x'));
    expect(body).toEqual({ text: '"b"' });
  });

  it('refuses registrations once the files are loaded, and more of them than allowed', async () => {
    const runner = await startForTest();
    const { errors } = await runner.load({
      'a.ts': `routerAdd('GET', '/late', () => { routerAdd('GET', '/later', () => {}); });`,
      'b.ts': `for (let i = 0; i < 20; i++) onRecordAfterCreate('orders', () => {});`,
    }, { registrations: 10 });
    expect(errors).toEqual([
      expect.objectContaining({ file: 'b.ts', message: expect.stringContaining('at most 10') }),
    ]);
    expect(await runner.next('result', runner.request('GET /late'))).toMatchObject({
      outcome: 'failed',
      faults: [{ message: expect.stringContaining('only while their file loads') }],
    });
  });
});
