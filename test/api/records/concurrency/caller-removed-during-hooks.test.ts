// Writes whose caller is removed while before-hooks run.
import { expect, it } from 'vitest';
import { type ApiResponse, as, expectOk, ownWorkspace } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { hookedApp, seen } from '../../../harness/hooked-app.ts';
import { ownUser } from '../../../harness/users.ts';

/** A hook that creates a record when it begins, and ends once there is another. */
const hook = `
  onRecordBeforeCreate('posts', async () => {
    await $app.records.create('seen', { what: 'asked' });
    while ((await $app.records.list('seen', { filter: "what = 'go'" })).total_items === 0) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
`;

it('session.revoke-all: a batch writes nothing for a user who was removed while its hooks ran', async () => {
  const own = await ownWorkspace();
  const app = await hookedApp(own, hook);
  const rules = `${app.path}/collections/posts/access_rules`;
  expectOk(await app.admin.put(`${rules}/create`, { template: 'auth' }));
  const user = await ownUser(own);
  const requests = [{ method: 'POST', collection: 'posts', body: { title: 'late' } }];
  const send = (token = user.token): Promise<ApiResponse> =>
    as(token).post(`${app.path}/batch`, { requests });
  const sending = send();
  await expect.poll(() => seen(app)).toHaveLength(1);
  expectOk(await own.admin.delete(`${own.path}/users/${user.id}`));
  expectOk(await app.admin.post(app.records('seen'), { what: 'go' }));
  expectError(await sending, 401, 'unauthorized');
  expect(expectOk(await app.admin.get(app.records('posts'))).total_items).toBe(0);
  const other = await ownUser(own);
  expectOk(await send(other.token));
});

it.each(
  [
    ['a create', 'POST', 'Create'],
    ['an update', 'PATCH', 'Update'],
    ['a deletion', 'DELETE', 'Delete'],
  ] as const,
)('session.revoke-all: %s is not done for such a user either', async (_title, method, event) => {
  const own = await ownWorkspace();
  const app = await hookedApp(own, hook.replace('BeforeCreate', `Before${event}`));
  const posts = app.records('posts');
  for (const action of ['create', 'update', 'delete']) {
    expectOk(
      await app.admin.put(`${app.path}/collections/posts/access_rules/${action}`, { template: 'auth' }),
    );
  }
  const user = await ownUser(own);
  const old = method === 'POST' ? [] : [expectOk(await app.admin.post(posts, { title: 'old' })).id];
  const sending = {
    POST: () => as(user.token).post(posts, { title: 'late' }),
    PATCH: () => as(user.token).patch(`${posts}/${old[0]}`, { title: 'late' }),
    DELETE: () => as(user.token).delete(`${posts}/${old[0]}`),
  }[method]();
  await expect.poll(() => seen(app)).toHaveLength(1);
  expectOk(await own.admin.delete(`${own.path}/users/${user.id}`));
  expectOk(await app.admin.post(app.records('seen'), { what: 'go' }));
  expectError(await sending, 401, 'unauthorized');
  const { items } = expectOk(await app.admin.get(`${posts}?filter=title='old'`));
  expect(items.map(({ id }: { id: string }) => id)).toEqual(old);
  expect(expectOk(await app.admin.get(posts)).total_items).toBe(old.length);
});
