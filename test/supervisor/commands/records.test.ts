// Records and hooks from the command line, against a new server.
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { as, expectOk } from '../../harness/api.ts';
import { type CommandShop, openCommandShop } from '../../harness/command-shop.ts';
import type { CommandUser } from '../../harness/user-folder.ts';
import { logInMaster } from '../../harness/set-up.ts';

let shop: CommandShop;
let user: CommandUser;
const app = '/api/workspaces/acme/apps/shop';

beforeAll(async () => {
  shop = await openCommandShop();
  const { master } = shop;
  user = shop.user;
  const fields = [{ name: 'title', kind: 'text', required: true }, { name: 'total', kind: 'number' }];
  expectOk(await master.post(`${app}/collections`, { schema: { id: 'orders', fields } }));
});

afterAll(() => shop.close());

describe('records', () => {
  it('come from a file, and go to one unchanged', async () => {
    await writeFile(join(user.folder, 'in.csv'), 'title,total\nTea,2.5\nMilk,1\n');
    expect(await user.json(['records', 'import', 'orders', 'in.csv', '--dry-run'])).toMatchObject({
      created: 2,
    });
    expect(await user.json(['records', 'import', 'orders', 'in.csv'])).toMatchObject({ created: 2 });
    const { stdout } = await user.run([
      'records',
      'export',
      'orders',
      '--fields',
      'title',
      '--filter',
      'total > 2',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ title: 'Tea' });
    await user.run(['records', 'export', 'orders', 'out.csv']);
    const text = await readFile(join(user.folder, 'out.csv'), 'utf8');
    expect(text.split('\r\n')).toHaveLength(4);
    await expect(stat(join(user.folder, 'out.csv.part'))).rejects.toThrow('ENOENT');
  });

  it('are not imported from a file with mistakes, which are named', async () => {
    await writeFile(join(user.folder, 'bad.csv'), 'title,total\n,2\nCoffee,3\n');
    const all = await user.run(['records', 'import', 'orders', 'bad.csv']);
    expect(all.exitCode).toBe(1);
    expect(all.stderr).toContain('line 2: title');
    const some = await user.run(['records', 'import', 'orders', 'bad.csv', '--skip-errors']);
    expect(some).toMatchObject({ exitCode: 0, stdout: '1 created, 1 left out' });
    const none = await user.run(['records', 'import', 'orders', 'missing.csv']);
    expect(none.exitCode).toBe(1);
    expect(none.stderr).toContain('missing.csv cannot be read');
  });
});

describe('types', () => {
  it('are written to a file, and only when they are others', async () => {
    const file = join(user.folder, 'bulkhead.types.ts');
    expect((await user.run(['types', '--check'])).exitCode).toBe(1);
    expect(await user.json(['types'])).toEqual({ file: 'bulkhead.types.ts', changed: true });
    const text = await readFile(file, 'utf8');
    expect(text).toContain('export interface OrdersRecord');
    const { mtimeMs } = await stat(file);
    expect(await user.json(['types', '--check'])).toEqual({ file: 'bulkhead.types.ts', changed: false });
    expect((await user.run(['types'])).stdout).toBe('bulkhead.types.ts is up to date');
    expect((await stat(file)).mtimeMs).toBe(mtimeMs);
    expect((await user.run(['types', '-'])).stdout).toBe(text.trimEnd());
    const nowhere = await user.run(['types', 'no/such/folder.ts']);
    expect(nowhere).toMatchObject({ exitCode: 1 });
    expect(nowhere.stderr).toContain('no/such/folder.ts cannot be written');
  });
});

describe('hooks', () => {
  it('are pushed where they have changed, and say where they are wrong', async () => {
    await mkdir(join(user.folder, 'bulkhead/hooks'), { recursive: true });
    const file = join(user.folder, 'bulkhead/hooks/jobs.js');
    await writeFile(file, "cronAdd('nightly', '0 3 * * *', () => console.log('it is night'));\n");
    expect(await user.json(['hooks', 'push'])).toEqual({ pushed: ['jobs.js'], errors: [] });
    expect((await user.run(['hooks', 'push'])).stdout).toBe('Nothing has changed.');
    expect(await user.json(['hooks', 'run-job', 'nightly'])).toMatchObject({ status: 'done' });
    expect((await user.run(['hooks', 'logs'])).stdout).toMatch(/info {2}jobs\.js it is night$/m);
    expect(await user.json(['hooks', 'status'])).toMatchObject({ registrations: { jobs: 1 } });
    await writeFile(file, 'this is no code\n');
    const wrong = await user.run(['hooks', 'push']);
    expect(wrong.exitCode).toBe(1);
    expect(wrong.stderr).toMatch(/jobs\.js:1:/);
  });

  it('are nobody’s business whose key is for something else', async () => {
    const master = await logInMaster(shop.server.url);
    const key = expectOk(
      await master.post(`${app}/keys`, { name: 'reader', scopes: ['records:read'] }),
    );
    const token = { BULKHEAD_TOKEN: String(key.secret) };
    expect((await user.run(['hooks', 'push'], token)).exitCode).toBe(3);
    expect((await user.run(['hooks', 'logs'], token)).stdout).toBe('');
    expect((await as(String(key.secret), shop.server.url).get(`${app}/hooks`)).status).toBe(403);
  });
});
