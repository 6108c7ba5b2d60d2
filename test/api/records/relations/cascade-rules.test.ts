// Deleting a record that others point to, under an access rule.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../../../harness/api.ts';
import { type EndUser, type Scenario, scenario } from '../../../harness/scenario.ts';

let app: Scenario;
let admin: Caller;
let ada: EndUser;
let bob: EndUser;
let posts: string;
let comments: string;

beforeAll(async () => {
  app = await scenario();
  ({ admin } = app);
  [ada, bob] = [await app.user(), await app.user()];
  posts = await app.define('posts', [{ name: 'owner', kind: 'relation', target: 'users' }], {
    delete: 'owner = @request.auth.id',
  });
  comments = await app.define('comments', [
    { name: 'post', kind: 'relation', target: 'posts', cascade_delete: true },
  ]);
});

async function made(): Promise<{ post: string; comment: string }> {
  const post = `${posts}/${expectOk(await admin.post(posts, { owner: ada.id })).id}`;
  const comment = `${comments}/${expectOk(await admin.post(comments, { post: post.split('/').at(-1) })).id}`;
  return { post, comment };
}

describe('deleting a record that others point to', () => {
  it('applies the rule of its own collection only: what is deleted with it needs none', async () => {
    const { post, comment } = await made();
    expectOk(await ada.delete(post));
    expect((await admin.get(comment)).status).toBe(404);
  });

  it('changes nothing for callers whom the rule does not admit', async () => {
    const { post, comment } = await made();
    expect((await bob.delete(post)).status).toBe(403);
    expect((await as().delete(post)).status).toBe(401);
    expectOk(await admin.get(post));
    expectOk(await admin.get(comment));
    expect((await ada.delete(`${posts}/${randomUUID()}`)).status).toBe(404);
  });

  it('rule.toctou: never deletes what has just become somebody else’s', async () => {
    for (let round = 0; round < 20; round++) {
      const { post, comment } = await made();
      const [given, deleted] = await Promise.all([
        admin.patch(post, { owner: bob.id }),
        ada.delete(post),
      ]);
      // Whoever came first: the other finds the record gone, or another's.
      expect([[200, 403], [404, 200]]).toContainEqual([given.status, deleted.status]);
      expect((await admin.get(comment)).status).toBe(deleted.status === 200 ? 404 : 200);
    }
  });
});
