// The examples of docs/reference/hooks.md, run as a reader would: each is a hook file that the compiler accepts.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { as, expectOk } from '../../harness/api.ts';
import { blocksOf } from '../../harness/documentation-page.ts';
import { underlinedIn } from '../../harness/editor.ts';
import { owner, type Scenario, scenario, title } from '../../harness/scenario.ts';
import { ownUser } from '../../harness/users.ts';

const page = readFileSync(new URL('../../../docs/reference/hooks.md', import.meta.url), 'utf8');
/** The examples that name their file, by that. */
const files = new Map(
  blocksOf(page).filter(({ kind }) => kind === 'ts').flatMap(({ text }): [string, string][] => {
    const name = /^\/\/ (\S+\.ts)\n/.exec(text)?.[1];
    return name === undefined ? [] : [[name, text]];
  }),
);

let shop: Scenario;
beforeAll(async () => {
  const total = { name: 'total', kind: 'number', required: true };
  shop = await scenario({
    collections: {
      orders: [title, total, owner, { name: 'paid', kind: 'bool' }],
      payments: [{ name: 'order', kind: 'relation', target: 'orders' }, { name: 'amount', kind: 'number' }],
    },
    rules: { orders: { list: 'owner = @request.auth.id' } },
    hooks: Object.fromEntries(files),
  });
});

it('the compiler accepts them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hook-examples-'));
  const compilerOptions = {
    ...{ strict: true, noEmit: true, target: 'esnext', lib: ['esnext', 'webworker'], types: [] },
    moduleDetection: 'force',
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  await writeFile(join(folder, 'hooks.d.ts'), (await shop.admin.get(`${shop.app.path}/hooks/types`)).text);
  for (const [name, text] of files) await writeFile(join(folder, name), text);
  const underlined = underlinedIn(folder);
  await rm(folder, { recursive: true });
  expect(underlined).toEqual([]);
  expect(files.size).toBeGreaterThan(0);
});

it('act for the caller, and write several records at once', async () => {
  const [ada, eve] = [await shop.user(), await shop.user()];
  const order = await shop.make(shop.records('orders'), { title: 'tea', total: 7, owner: ada.id });
  const mine = `${shop.app.path}/custom/mine`;
  expect([(await ada.get(mine)).body, (await eve.get(mine)).body]).toEqual([['tea'], []]);
  const pay = `${shop.app.path}/custom/orders/${order}/pay`;
  expect((await eve.post(pay)).body.code).toBe('no_order');
  expect((await as().post(pay)).status).toBe(500);
  expect((await ada.post(pay)).status).toBe(204);
  const { items } = expectOk(await shop.admin.get(shop.records('payments')));
  expect(items.map(({ fields }: { fields: unknown }) => fields)).toEqual([{ order, amount: 7 }]);
});

it('change a user, where the workspace allows it', async () => {
  const user = await ownUser(shop.workspace);
  const block = `${shop.app.path}/custom/members/${user.id}/block`;
  expect((await user.post(block)).body.code).toBe('admins_only');
  const policy = { kind: 'toggle', state: 'locked', value: true };
  expectOk(await shop.workspace.admin.put(`${shop.workspace.path}/policies/hooks.manage_users`, policy));
  expect((await shop.admin.post(block)).status).toBe(204);
  expect((await user.get(`${shop.workspace.path}/auth/me`)).status).toBe(401);
});

it('refuse who may not register by the app', async () => {
  const register = (email: string) =>
    as().post(`${shop.workspace.path}/auth/users/register`, {
      email,
      password: 'a password of the user',
      app: shop.app.id,
    });
  const refused = await register(`${crypto.randomUUID()}@other.test`);
  expect(refused.body.errors).toMatchObject([{ path: 'email', code: 'foreign' }]);
  expectOk(await register(`${crypto.randomUUID()}@example.com`));
});
