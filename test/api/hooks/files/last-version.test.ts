// A hook file that has loaded, and then is changed to what does not load: the version that loaded last stays in effect.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { type ApiResponse, expectOk, type OwnWorkspace, ownWorkspace } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { scenario } from '../../../harness/scenario.ts';

let own: OwnWorkspace;

beforeAll(async () => {
  own = await ownWorkspace();
});

/** A guard that says its version, a route, and a job. */
const guard = (version: number) => `
  onRecordBeforeCreate('orders', (e) => { if (e.record.fields.title === 'bad') throw new Error('no ${version}'); });
  routerAdd('GET', '/version', () => ${version});
  cronAdd('nightly', '${version} 0 1 1 *', () => {});`;

/** An app with a collection `orders` and half a second for the top-level code of its hooks. */
async function newApp(files: Record<string, string> = { 'guard.js': guard(1) }) {
  const { app, records } = await scenario({
    workspace: own,
    collections: { orders: [{ name: 'title', kind: 'text' }], free: [{ name: 'title', kind: 'text' }] },
    hooks: files,
  });
  const { admin, path } = app;
  expectOk(await admin.put(`${path}/policies/hooks.timeout_ms`, { kind: 'range', min: 1, max: 1_000 }));
  const folder = join(inject('server').dataDir, 'hooks', own.id, app.id);
  const running = (response: ApiResponse, list: 'items' | 'files') =>
    Object.fromEntries(
      expectOk(response)[list].map((
        { filename, running_since, is_current }: Record<string, string>,
      ) => [filename, running_since === null ? null : is_current]),
    );
  return {
    put: async (name: string, source: string) =>
      expectOk(await admin.put(`${path}/hooks/${name}`, { source })).reload,
    remove: async (name: string) => expectOk(await admin.delete(`${path}/hooks/${name}`)),
    write: (title: string, collection = 'orders') => admin.post(records(collection), { title }),
    route: (name = 'version') => admin.get(`${path}/custom/${name}`),
    status: async () => expectOk(await admin.get(`${path}/hooks/status`)),
    /** By file: true where it runs as it is, false where an older version does, null where none does. */
    running: async () => {
      const listed = running(await admin.get(`${path}/hooks`), 'items');
      expect(running(await admin.get(`${path}/hooks/status`), 'files')).toEqual(listed);
      return listed;
    },
    onDisk: (name: string, source: string | Uint8Array) => writeFile(join(folder, name), source),
    ...{ admin, path, folder },
  };
}

const faultOf = (file: string) => expect.objectContaining({ file });
/** Says which version refuses. */
const veto = (version: number) => ({ code: 'hook_veto', message: `no ${version}` });

describe('a hook file that has loaded once, and is put as one that', () => {
  it.each([
    ['does not compile', 'const = 1;'],
    ['throws', `${guard(2)} throw new Error('half loaded');`],
    ['waits for ever', `${guard(2)} await new Promise(() => {});`],
    ['loops for ever', 'for (;;);'],
    ['ends the process', 'Deno.exit(1);'],
  ])('%s: refuses, serves and schedules as before, until one comes that loads', async (_, source) => {
    const { put, write, route, status, running } = await newApp();
    const before = (await status()).files[0];
    expect(await put('guard.js', source)).toEqual({ loaded: [], errors: [faultOf('guard.js')] });
    expect((await write('bad')).body).toEqual(veto(1));
    expectOk(await write('good'));
    expect((await route()).body).toBe(1);
    expect(await status()).toMatchObject({
      loaded: [],
      registrations: { hooks: 1, routes: 1, jobs: 1 },
      jobs: [{ name: 'nightly', expression: '1 0 1 1 *' }],
      files: [{ filename: 'guard.js', running_since: before.running_since, is_current: false }],
    });
    expect(await put('guard.js', guard(3))).toEqual({ loaded: ['guard.js'], errors: [] });
    expect((await write('bad')).body).toEqual(veto(3));
    expect(await running()).toEqual({ 'guard.js': true });
    expect((await status()).files[0].running_since > before.running_since).toBe(true);
  });
});

describe('a hook file that is changed on disk', () => {
  it.each([
    ['does not compile', 'const = 1;'],
    ['is not UTF-8', Uint8Array.of(0xe9)],
  ])('and %s: goes on as it was', async (_, source) => {
    const { onDisk, write, running } = await newApp();
    await onDisk('guard.js', source);
    await expect.poll(running, { timeout: 10_000 }).toEqual({ 'guard.js': false });
    expect((await write('bad')).body).toEqual(veto(1));
  });

  it('while nobody has asked for its app: the first version is known all the same', async () => {
    const id = 'unasked';
    const folder = join(inject('server').dataDir, 'hooks', own.id, id);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'guard.js'), guard(1));
    const app = await own.app(id);
    const files = async () => expectOk(await app.admin.get(`${app.path}/hooks`)).items;
    await expect.poll(files, { timeout: 10_000 }).toMatchObject([{ is_current: true }]);
    await writeFile(join(folder, 'guard.js'), 'const = 1;');
    await expect.poll(files, { timeout: 10_000 }).toMatchObject([{
      is_current: false,
      running_since: expect.any(String),
    }]);
    expect((await app.admin.get(`${app.path}/custom/version`)).body).toBe(1);
  });
});

describe('a hook file that is deleted', () => {
  it('is deleted for good, also where it did not load, and what is put in its place has no version before', async () => {
    const { put, remove, write, running } = await newApp();
    await put('guard.js', 'const = 1;');
    expect(await remove('guard.js')).toEqual({ loaded: [], errors: [] });
    expectOk(await write('bad'));
    expect(await put('guard.js', 'const = 1;')).toEqual({ loaded: [], errors: [faultOf('guard.js')] });
    expectOk(await write('bad'));
    expect(await running()).toEqual({ 'guard.js': null });
  });

  it('on disk: the same', async () => {
    const { folder, onDisk, write, running } = await newApp();
    await rm(join(folder, 'guard.js'));
    await expect.poll(async () => (await write('bad')).status, { timeout: 10_000 }).toBe(201);
    await onDisk('guard.js', 'const = 1;');
    await expect.poll(running).toEqual({ 'guard.js': null });
    expectOk(await write('bad'));
  });
});

describe('files that depend on each other', () => {
  const words = (list: string) => `export const ${list} = ['bad'];`;
  const user = (list: string) => `
    import { ${list} } from './words.js';
    onRecordBeforeCreate('orders', (e) => { if (${list}.includes(e.record.fields.title)) throw new Error('no ${list}'); });`;
  const pair = { 'words.js': words('old'), 'guard.js': user('old') };

  it('go back together where one of them does not load with the other, and on together', async () => {
    const { put, write, running } = await newApp(pair);
    // It loads alone, and would take the guard away that still asks it for something else.
    const { loaded, errors } = await put('words.js', words('young'));
    expect({ loaded, errors }).toEqual({
      loaded: ['guard.js'],
      errors: [faultOf('guard.js'), {
        file: 'words.js',
        line: null,
        column: null,
        message: expect.stringMatching(/^is left out.*guard\.js/),
      }],
    });
    expect((await write('bad')).body.message).toBe('no old');
    expect(await running()).toEqual({ 'guard.js': true, 'words.js': false });
    expect(await put('guard.js', user('young'))).toEqual({ loaded: ['guard.js', 'words.js'], errors: [] });
    expect((await write('bad')).body.message).toBe('no young');
  });

  it('leave a file that nothing can replace without what it has to decide, and all else in effect', async () => {
    const other = `routerAdd('GET', '/other', () => 'there');`;
    const { put, remove, write, route, status, running } = await newApp({
      ...pair,
      'guard.js': `${user('old')} routerAdd('GET', '/guarded', () => 1);`,
      'other.js': other,
    });
    expect(await remove('words.js')).toEqual({ loaded: ['other.js'], errors: [faultOf('guard.js')] });
    expectError(await write('good'), 500, 'hook_error');
    expectError(await route('guarded'), 500, 'hook_error');
    expectOk(await write('bad', 'free'));
    expect((await route('other')).body).toBe('there');
    expect(await running()).toEqual({ 'guard.js': null, 'other.js': true });
    expect((await status()).loaded).toEqual(['other.js']);
    await put('words.js', words('old'));
    expect((await write('bad')).body.message).toBe('no old');
    await remove('words.js');
    await remove('guard.js');
    expectOk(await write('bad'));
  });

  it('keep a route where it was, when a new file of an earlier name registers it too', async () => {
    const { put, remove, route } = await newApp();
    const { loaded, errors } = await put('a.js', `routerAdd('GET', '/version', () => 'another');`);
    expect({ loaded, errors }).toEqual({
      loaded: ['guard.js'],
      errors: [faultOf('guard.js'), faultOf('a.js')],
    });
    expect((await route()).body).toBe(1);
    await remove('guard.js');
    expect((await route()).body).toBe('another');
  });

  it('refuse what a file decides that needs a variable which is gone, until it is there again', async () => {
    const other = (word: string) => `routerAdd('GET', '/other', () => '${word}');`;
    const { put, write, route, path, admin } = await newApp({ 'other.js': other('old') });
    const variable = `${path}/hooks/env/WORD`;
    expectOk(await admin.put(variable, { value: 'bad' }));
    await put('guard.js', `if ($app.env.WORD === undefined) throw new Error('WORD?'); ${guard(1)}`);
    expectOk(await admin.delete(variable));
    expectError(await write('good'), 500, 'hook_error');
    // Nothing that others have changed to is held back for a file that nothing helps.
    const reload = await put('other.js', other('new'));
    expect(reload).toEqual({ loaded: ['other.js'], errors: [faultOf('guard.js')] });
    expect((await route('other')).body).toBe('new');
    expectOk(await admin.put(variable, { value: 'bad' }));
    expectOk(await write('good'));
  });
});
