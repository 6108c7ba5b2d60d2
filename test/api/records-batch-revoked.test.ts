// A batch whose sender loses the right to it while hooks are asked.
import { expect, it } from 'vitest';
import { type Answer, as, expectOk, ownWorkspace } from '../harness/api.ts';
import { expectError } from '../harness/expectations.ts';
import { hookedApp, seen } from '../harness/hooked-app.ts';
import { ownUser } from '../harness/users.ts';

/** Says that it was asked, and answers once it is told to. */
const hook = `
  onRecordBeforeCreate('posts', async () => {
    await $app.records.create('seen', { what: 'asked' });
    while ((await $app.records.list('seen', { filter: "what = 'go'" })).total_items === 0) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
`;

it('session.revoke-all: writes nothing for somebody who was removed meanwhile', async () => {
  const own = await ownWorkspace();
  const app = await hookedApp(own, hook);
  const rules = `${app.path}/collections/posts/access_rules`;
  expectOk(await app.admin.put(`${rules}/create`, { template: 'auth' }));
  const user = await ownUser(own);
  const requests = [{ method: 'POST', collection: 'posts', body: { title: 'late' } }];
  const send = (token = user.token): Promise<Answer> => as(token).post(`${app.path}/batch`, { requests });
  const sending = send();
  await expect.poll(() => seen(app)).toHaveLength(1);
  expectOk(await own.admin.delete(`${own.path}/users/${user.id}`));
  expectOk(await app.admin.post(app.records('seen'), { what: 'go' }));
  expectError(await sending, 401, 'unauthorized');
  expect(expectOk(await app.admin.get(app.records('posts'))).total_items).toBe(0);
  const other = await ownUser(own);
  expectOk(await send(other.token));
});
