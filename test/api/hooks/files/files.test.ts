// Hook files over HTTP: written, loaded, listed, removed.
import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { expectOk, type OwnApp, type OwnWorkspace, ownWorkspace } from '../../../harness/api.ts';

let own: OwnWorkspace;
let app: OwnApp;

beforeAll(async () => {
  own = await ownWorkspace();
  app = await own.app();
});

function folder(id = app.id): string {
  return join(inject('server').dataDir, 'hooks', own.id, id);
}

/** Has the server make the folder of an app's files, for it writes in no folder of another user. */
async function ownFolder({ admin, path }: OwnApp): Promise<void> {
  expectOk(await admin.put(`${path}/hooks/first.js`, { source: '' }));
  expectOk(await admin.delete(`${path}/hooks/first.js`));
}

describe('a hook file', () => {
  it('is written, loaded, shown, listed, audited and removed', async () => {
    const source = "routerAdd('GET', '/hello', () => ({ hello: 'world' }));\n";
    const put = expectOk(await app.admin.put(`${app.path}/hooks/hello.js`, { source }));
    expect(put.file).toMatchObject({ filename: 'hello.js', size: Buffer.byteLength(source) });
    expect(put.reload).toEqual({ loaded: ['hello.js'], errors: [] });
    expect(put.warnings).toEqual([]);
    expect(expectOk(await app.admin.get(`${app.path}/hooks/hello.js`))).toMatchObject({
      ...put.file,
      source,
    });
    const list = expectOk(await app.admin.get(`${app.path}/hooks`));
    expect(list).toMatchObject({ total_items: 1, items: [{ filename: 'hello.js', size: source.length }] });
    expect(expectOk(await app.admin.get(`${app.path}/custom/hello`))).toEqual({ hello: 'world' });
    expect(expectOk(await app.admin.delete(`${app.path}/hooks/hello.js`))).toEqual({
      loaded: [],
      errors: [],
    });
    expect((await app.admin.get(`${app.path}/custom/hello`)).status).toBe(404);
    expect((await app.admin.get(`${app.path}/hooks/hello.js`)).body.code).toBe('not_found');
    expect((await app.admin.delete(`${app.path}/hooks/hello.js`)).body.code).toBe('not_found');
    const audit = expectOk(await app.admin.get(`${app.path}/audit?action=hook_`));
    expect(audit.items.map(({ action, target }: { action: string; target: string }) => [action, target]))
      .toEqual([
        ['hook_delete', 'hello.js'],
        ['hook_put', 'hello.js'],
      ]);
  });

  it('with an error is saved and contributes nothing, and the others stay loaded', async () => {
    const good = "routerAdd('GET', '/good', () => 1);";
    expectOk(await app.admin.put(`${app.path}/hooks/good.ts`, { source: good }));
    const put = expectOk(
      await app.admin.put(`${app.path}/hooks/bad.ts`, { source: 'const a = 1;\nconst x: number = ;' }),
    );
    expect(put.reload.loaded).toEqual(['good.ts']);
    expect(put.reload.errors).toEqual([
      { file: 'bad.ts', message: expect.stringContaining('SyntaxError'), line: 2, column: 19 },
    ]);
    expect(expectOk(await app.admin.get(`${app.path}/hooks/bad.ts`)).source).toContain('const x');
    expect((await app.admin.get(`${app.path}/custom/good`)).body).toBe(1);
    expectOk(await app.admin.delete(`${app.path}/hooks/bad.ts`));
    expectOk(await app.admin.delete(`${app.path}/hooks/good.ts`));
  });

  it('hook.filename: what could leave the directory, or be read otherwise than it is written, is 400', async () => {
    const names = [
      '..%2Fx.js',
      'a%2Fb.js',
      'a%5Cb.js',
      '.x.js',
      'x',
      'x.JS',
      'x%00.js',
      `${'a'.repeat(297)}.js`,
      '%2e%2e%2fx.js',
      'a..b.js',
      '-x.js',
      'x.jsx',
      'x.js%0A',
      'e%CC%81x.js',
    ];
    const statuses = await Promise.all(names.map(async (name) => {
      const { status, body } = await app.admin.put(`${app.path}/hooks/${name}`, { source: '' });
      return [name, status, body.code];
    }));
    expect(statuses).toEqual(names.map((name) => [name, 400, 'validation']));
  });

  it('hook.filename: names of the language itself are names like any other', async () => {
    const target = await own.app();
    for (const name of ['__proto__.js', 'constructor.js']) {
      const source = `routerAdd('GET', '/${name}', () => '${name}');`;
      const put = expectOk(await app.admin.put(`${app.path}/hooks/${name}`, { source }));
      expect(put.reload.loaded).toContain(name);
      expect((await app.admin.get(`${app.path}/custom/${name}`)).body).toBe(name);
      expectOk(await app.admin.delete(`${app.path}/hooks/${name}`));
    }
    expect(expectOk(await target.admin.get(`${target.path}/hooks`)).items).toEqual([]);
  });

  it('hook.symlink: a link is not listed, read, loaded, written through or removed', async () => {
    const linked = await own.app();
    const secret = join(inject('server').dataDir, `secret-${linked.id}.js`);
    const text = "routerAdd('GET', '/secret', () => 'secret');";
    await writeFile(secret, text);
    await ownFolder(linked);
    await symlink(secret, join(folder(linked.id), 'link.js'));
    const { admin, path } = linked;
    const message = 'is a symbolic link, which is not followed';
    expect(expectOk(await admin.post(`${path}/hooks/reload`))).toEqual({
      loaded: [],
      errors: [{ file: 'link.js', message, line: null, column: null }],
    });
    expect(expectOk(await admin.get(`${path}/hooks`)).items).toEqual([]);
    expect((await admin.get(`${path}/hooks/link.js`)).status).toBe(404);
    expect((await admin.get(`${path}/custom/secret`)).status).toBe(404);
    expect((await admin.delete(`${path}/hooks/link.js`)).status).toBe(404);
    expectOk(await admin.put(`${path}/hooks/link.js`, { source: '// mine' }));
    expect(await readFile(secret, 'utf8')).toBe(text);
    await rm(secret);
  });

  it('is no pipe, and nobody waits for one', async () => {
    const { admin, path, id } = await own.app();
    await mkdir(folder(id), { recursive: true });
    await execa('mkfifo', [join(folder(id), 'pipe.js')]);
    expect((await admin.get(`${path}/hooks/pipe.js`)).status).toBe(404);
    expect(expectOk(await admin.post(`${path}/hooks/reload`))).toEqual({ loaded: [], errors: [] });
  });

  it('on disk that is too much, too large or no text has a fault of its own, and the others are loaded', async () => {
    const { admin, path, id } = await own.app();
    await mkdir(folder(id), { recursive: true });
    const write = (name: string, text: string | Uint8Array) => writeFile(join(folder(id), name), text);
    for (let file = 0; file < 63; file++) await write(`f${file}.js`, '');
    await write('a-large.js', `//${'x'.repeat(1_048_575)}`);
    await write('b-latin.js', Uint8Array.of(0x2f, 0x2f, 0xe9));
    const { loaded, errors } = expectOk(await admin.post(`${path}/hooks/reload`));
    expect(loaded).toHaveLength(62);
    expect(errors.map(({ file, message }: { file: string; message: string }) => [file, message])).toEqual([
      ['a-large.js', 'is larger than 1048576 bytes'],
      ['b-latin.js', 'is not UTF-8'],
      ['f9.js', 'is more than the 64 files that an app may have'],
    ]);
  });

  it('is not put where the directory has a directory of its name', async () => {
    const { admin, path, id } = await own.app();
    expectOk(await admin.put(`${path}/hooks/own.js`, { source: '// mine' }));
    await mkdir(join(folder(id), 'sub.js'));
    const response = await admin.put(`${path}/hooks/sub.js`, { source: '// mine' });
    expect([response.status, response.body.code]).toEqual([409, 'conflict']);
    expect((await readdir(folder(id))).sort()).toEqual(['own.js', 'sub.js']);
    expect(expectOk(await admin.get(`${path}/audit?action=hook_put`)).items).toHaveLength(1);
  });

  it('is not put where the directory is not the server’s to write in, and the response says so', async () => {
    const { admin, path, id } = await own.app();
    expectOk(await admin.put(`${path}/hooks/first.js`, { source: '// mine' }));
    await chmod(folder(id), 0o555);
    const { status, body } = await admin.put(`${path}/hooks/own.js`, { source: '// mine' });
    expect([status, body]).toEqual([409, {
      code: 'conflict',
      message: expect.stringContaining('may not write'),
    }]);
  });

  it('that lies there before its app is picked up when the app is created', async () => {
    const id = `early${Date.now() % 100_000}`;
    await mkdir(folder(id), { recursive: true });
    await writeFile(join(folder(id), 'early.js'), "routerAdd('GET', '/early', () => 'there');");
    const early = await own.app(id);
    expect((await early.admin.get(`${early.path}/custom/early`)).body).toBe('there');
  });

  it('that lies there before its app is loaded when the app is created, though nobody asks for it', async () => {
    const id = `soon${Date.now() % 100_000}`;
    await mkdir(folder(id), { recursive: true });
    await writeFile(join(folder(id), 'soon.js'), "cronAdd('yearly', '@yearly', () => {});");
    const soon = await own.app(id);
    await expect.poll(async () => expectOk(await soon.admin.get(`${soon.path}/hooks/status`)), {
      timeout: 30_000,
    })
      .toMatchObject({ loaded: ['soon.js'], jobs: [{ name: 'yearly', next_run: expect.any(String) }] });
  });

  it('goes with its app', async () => {
    const id = `gone${Date.now() % 100_000}`;
    const first = await own.app(id);
    expectOk(
      await first.admin.put(`${first.path}/hooks/a.js`, { source: "routerAdd('GET', '/a', () => 1);" }),
    );
    expectOk(await own.admin.delete(first.path));
    const second = await own.app(id);
    expect(expectOk(await second.admin.get(`${second.path}/hooks`)).items).toEqual([]);
    expect((await second.admin.get(`${second.path}/custom/a`)).status).toBe(404);
  });

  it('is refused when it is too large', async () => {
    const response = await app.admin.put(`${app.path}/hooks/big.js`, { source: 'x'.repeat(1_048_577) });
    expect(response.body).toMatchObject({
      code: 'validation',
      message: 'source: must have at most 1048576 bytes',
    });
  });
});

describe('the environment of hooks', () => {
  it('is set, read by hooks and never shown', async () => {
    const source = "routerAdd('GET', '/env', () => ({ key: $app.env.KEY ?? null }));";
    expectOk(await app.admin.put(`${app.path}/hooks/env.js`, { source }));
    expect((await app.admin.get(`${app.path}/custom/env`)).body).toEqual({ key: null });
    const put = expectOk(await app.admin.put(`${app.path}/hooks/env/KEY`, { value: 'sesame' }));
    expect(put).toEqual({ name: 'KEY', updated_at: expect.any(String) });
    expect((await app.admin.get(`${app.path}/custom/env`)).body).toEqual({ key: 'sesame' });
    const list = await app.admin.get(`${app.path}/hooks/env`);
    expect(list.text).not.toContain('sesame');
    expect(list.body.items).toEqual([put]);
    expect((await app.admin.get(`${app.path}/hooks/env/KEY`)).body).toEqual(put);
    expect((await app.admin.get(`${app.path}/audit?action=hook_env`)).text).not.toContain('sesame');
    expectOk(await app.admin.delete(`${app.path}/hooks/env/KEY`));
    expect((await app.admin.get(`${app.path}/custom/env`)).body).toEqual({ key: null });
    expect((await app.admin.delete(`${app.path}/hooks/env/KEY`)).status).toBe(404);
    expect((await app.admin.put(`${app.path}/hooks/env/1KEY`, { value: '' })).body.code).toBe('validation');
  });

  it('is one of 64, which have 4 MiB together', { timeout: 30_000 }, async () => {
    const other = await own.app();
    const put = (name: string, size: number) =>
      other.admin.put(`${other.path}/hooks/${name}`, { source: `//${'x'.repeat(size - 2)}` });
    expectOk(await put('f64.js', 10));
    for (let file = 1; file < 64; file++) await writeFile(join(folder(other.id), `f${file}.js`), '//');
    const full = await put('f65.js', 10);
    expect([full.status, full.body.message]).toEqual([400, expect.stringMatching(/^filename: .* 64 files/)]);
    expectOk(await put('f64.js', 1_048_576));
    expect((await put('f63.js', 1_048_577)).body.message).toMatch(/^source: must have at most 1048576 bytes/);
    for (const name of ['f1.js', 'f2.js']) expectOk(await put(name, 1_048_576));
    const left = 4_194_304 - 3 * 1_048_576 - 60 * 2;
    expect((await put('f3.js', left + 1)).body.message).toMatch(/^source: .* 4194304 bytes together/);
    expect(expectOk(await put('f3.js', left)).reload.errors).toEqual([]);
    expectOk(await put('f3.js', 10));
  });
});
