// `bulkhead pull`, against a new server.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { definitionFiles } from '../../../supervisor/remote/project-definition.ts';
import { expectOk } from '../../harness/api.ts';
import { logInMaster } from '../../harness/set-up.ts';
import { type CommandShop, openCommandShop } from '../../harness/command-shop.ts';
import type { CommandUser } from '../../harness/user-folder.ts';

let shop: CommandShop;
let user: CommandUser;
const app = '/api/workspaces/acme/apps/shop';
const source = "routerAdd('GET', '/hello', () => ({ hello: 'you' }));\n";

beforeAll(async () => {
  shop = await openCommandShop();
  const { master } = shop;
  user = shop.user;
  const fields = [{ name: 'title', kind: 'text', required: true }];
  expectOk(await master.post(`${app}/collections`, { schema: { id: 'orders', fields } }));
  expectOk(await master.put(`${app}/collections/orders/access_rules/list`, { template: 'any' }));
  expectOk(await master.put(`${app}/hooks/main.ts`, { source }));
  expectOk(await master.put(`${app}/policies/hooks.timeout_ms`, { kind: 'range', min: 10, max: 2_000 }));
});

afterAll(() => shop.close());

const read = (path: string) => readFile(join(user.folder, path), 'utf8');

describe('bulkhead pull', () => {
  it('writes what is not as the app is, and nothing else', async () => {
    await mkdir(join(user.folder, 'bulkhead/hooks'), { recursive: true });
    await writeFile(join(user.folder, 'bulkhead/hooks/own.ts'), '// only here\n');
    const files = ['bulkhead/hooks/main.ts', 'bulkhead/policies.json', 'bulkhead/schema/orders.json'];
    const written = await user.json(['pull']);
    expect(written).toMatchObject({ written: expect.arrayContaining(files) });
    expect(await read('bulkhead/hooks/main.ts')).toBe(source);
    expect(await read('bulkhead/hooks/own.ts')).toBe('// only here\n');
    expect(JSON.parse(await read('bulkhead/policies.json'))).toEqual({
      'hooks.timeout_ms': { kind: 'range', min: 10, max: 2_000 },
    });
    expect(JSON.parse(await read('bulkhead/schema/orders.json'))).toMatchObject({
      id: 'orders',
      fields: [{ name: 'title', kind: 'text', required: true }],
      rules: { list: { template: 'any' }, create: { template: 'admin' } },
    });
    expect(await user.json(['pull'])).toEqual({ written: [] });
  });

  it('says which files are outdated, without writing them', async () => {
    expectOk(
      await (await logInMaster(shop.server.url)).put(`${app}/hooks/main.ts`, { source: `${source}\n` }),
    );
    const { exitCode, stderr } = await user.run(['pull', '--check']);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('bulkhead/hooks/main.ts')]);
    expect(await read('bulkhead/hooks/main.ts')).toBe(source);
    await user.run(['pull']);
    expect((await user.run(['pull', '--check'])).exitCode).toBe(0);
  });

  it.each(['../x.ts', '/etc/x.ts', '.bashrc', 'x.sh', 'a\\x.ts', 'a..ts'])(
    'refuses the name %s',
    (filename) => {
      expect(() => definitionFiles({ hooks: [{ filename, source }] })).toThrow('is refused');
    },
  );
});
