// Writes whose collection changes while before-hooks run: the rules and fields hold that it has when they are done.
import { expect, it } from 'vitest';
import { type ApiResponse, as, expectOk, ownWorkspace } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { type HookedApp, hookedApp, seen } from '../../../harness/hooked-app.ts';
import { ownUser } from '../../../harness/users.ts';

/** A hook that creates a record when it begins, and ends once there is another. */
const hook = (event: string) => `
  onRecordBefore${event}('posts', async () => {
    await $app.records.create('seen', { what: 'asked' });
    while ((await $app.records.list('seen', { filter: "what = 'go'" })).total_items === 0) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
`;

const ways = [
  ['a create', 'create', 'Create'],
  ['an update', 'update', 'Update'],
  ['a deletion', 'delete', 'Delete'],
  ['a batch', 'create', 'Create'],
] as const;

/** A collection that whoever is signed in may write, a record in it, and a write of an end-user that waits for a hook. */
async function begin(title: typeof ways[number][0], action: string, event: string) {
  const own = await ownWorkspace();
  const app = await hookedApp(own, hook(event));
  expectOk(await app.admin.put(ruleOf(app, action), { template: 'auth' }));
  const user = as((await ownUser(own)).token);
  const posts = app.records('posts');
  const old = event === 'Create' ? '' : expectOk(await app.admin.post(posts, { title: 'old' })).id;
  const requests = [{ method: 'POST', collection: 'posts', body: { title: 'late' } }];
  const sending: Promise<ApiResponse> = {
    'a create': () => user.post(posts, { title: 'late' }),
    'an update': () => user.patch(`${posts}/${old}`, { title: 'late' }),
    'a deletion': () => user.delete(`${posts}/${old}`),
    'a batch': () => user.post(`${app.path}/batch`, { requests }),
  }[title]();
  await expect.poll(() => seen(app)).toHaveLength(1);
  return { app, sending, old: old === '' ? [] : [old] };
}

const ruleOf = (app: HookedApp, action: string) => `${app.path}/collections/posts/access_rules/${action}`;

async function letGo(app: HookedApp): Promise<void> {
  expectOk(await app.admin.post(app.records('seen'), { what: 'go' }));
}

it.each(ways)(
  'rule.meanwhile: %s is refused by a rule that was closed while its hook ran',
  async (title, action, event) => {
    const { app, sending, old } = await begin(title, action, event);
    expectOk(await app.admin.put(ruleOf(app, action), { template: 'admin' }));
    await letGo(app);
    expectError(await sending, 403, 'forbidden');
    const posts = app.records('posts');
    const { items } = expectOk(await app.admin.get(`${posts}?filter=title='old'`));
    expect(items.map(({ id }: { id: string }) => id)).toEqual(old);
    expect(expectOk(await app.admin.get(posts)).total_items).toBe(old.length);
  },
);

it.each(ways)(
  'rule.meanwhile: %s is done when another part of the app has changed',
  async (title, action, event) => {
    const { app, sending, old } = await begin(title, action, event);
    expectOk(await app.admin.put(ruleOf(app, 'list'), { template: 'admin' }));
    await letGo(app);
    expectOk(await sending);
    const { total_items } = expectOk(await app.admin.get(app.records('posts')));
    expect(total_items).toBe(title === 'a deletion' ? 0 : Math.max(old.length, 1));
  },
);

it('a create is checked against the fields that the collection has when its hook ends', async () => {
  const { app, sending } = await begin('a create', 'create', 'Create');
  const collection = `${app.path}/collections/posts`;
  const { schema } = expectOk(await app.admin.get(collection));
  const fields = schema.fields.map((field: { name: string }) =>
    field.name === 'title' ? { ...field, max: 3 } : field
  );
  expectOk(await app.admin.patch(collection, { schema: { fields } }));
  await letGo(app);
  const response = await sending;
  expectError(response, 400, 'validation');
  expect(response.body.message).toContain('title');
  expect(expectOk(await app.admin.get(app.records('posts'))).total_items).toBe(0);
});
