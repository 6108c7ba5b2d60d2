// `bulkhead seed`, against a new server.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk } from '../../harness/api.ts';
import { type CommandShop, openCommandShop } from '../../harness/command-shop.ts';
import type { CommandUser } from '../../harness/user-folder.ts';

let shop: CommandShop;
let master: Caller;
let user: CommandUser;
const app = '/api/workspaces/acme/apps/shop';
const id = '01890000-0000-7000-8000-000000000001';

beforeAll(async () => {
  shop = await openCommandShop();
  ({ master, user } = shop);
  const name = { name: 'name', kind: 'text', required: true };
  expectOk(await master.post(`${app}/collections`, { schema: { id: 'makers', fields: [name] } }));
  const fields = [name, { name: 'maker', kind: 'relation', target: 'makers' }];
  expectOk(await master.post(`${app}/collections`, { schema: { id: 'goods', fields } }));
});

afterAll(() => shop.close());

describe('bulkhead seed', () => {
  it('creates the records of each collection, in the order of the file', async () => {
    const seed = { makers: [{ id, name: 'Ada' }], goods: [{ name: 'Tea', maker: id }, { name: 'Milk' }] };
    await writeFile(join(user.folder, 'seed.json'), JSON.stringify(seed));
    expect(await user.json(['seed', 'seed.json'])).toEqual({ created: { makers: 1, goods: 2 } });
    const { items } = expectOk(await master.get(`${app}/collections/goods/records?filter=maker.name='Ada'`));
    expect(items).toMatchObject([{ fields: { name: 'Tea', maker: id } }]);
  });

  it('fails with the reason of the shop.server, and creates none of a collection with a mistake', async () => {
    await writeFile(join(user.folder, 'bad.json'), JSON.stringify({ makers: [{ name: 'Bob' }, {}] }));
    const { exitCode, stderr } = await user.run(['seed', 'bad.json']);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('name')]);
    expect(expectOk(await master.get(`${app}/collections/makers/records`)).total_items).toBe(1);
  });

  it.each([['[]', 'must be a JSON object'], ['{"makers":{}}', 'must be an array'], ['{', 'cannot be read']])(
    'refuses a file with %s',
    async (text, reason) => {
      await writeFile(join(user.folder, 'odd.json'), text);
      const { exitCode, stderr } = await user.run(['seed', 'odd.json']);
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining(reason)]);
    },
  );
});
