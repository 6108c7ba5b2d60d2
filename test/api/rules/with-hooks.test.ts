// Access rules of records whose writes have hooks.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { type HookedApp, hookedApp, seen } from '../../harness/hooked-app.ts';
import { ruleBody } from '../../harness/scenario.ts';
import { type OwnUser, ownUser } from '../../harness/users.ts';

let own: OwnWorkspace;
let user: OwnUser;

beforeAll(async () => {
  own = await ownWorkspace();
  user = await ownUser(own);
});

async function setRules({ admin, path }: HookedApp, collection: string, rules: Record<string, string>) {
  for (const [action, rule] of Object.entries(rules)) {
    expectOk(await admin.put(`${path}/collections/${collection}/access_rules/${action}`, ruleBody(rule)));
  }
}

describe('a rule', () => {
  it('knows as the body what the caller sent, not what hooks made of it', async () => {
    const app = await hookedApp(
      own,
      `
      onRecordBeforeCreate('posts', (e) => { e.record.fields.count = 5; });
      onRecordBeforeUpdate('posts', (e) => { e.record.fields.count = 6; });`,
    );
    const rule = '@request.body.count = null';
    await setRules(app, 'posts', { create: rule, update: rule });
    const posts = app.records('posts');
    const made = expectOk(await user.post(posts, { title: 'a' }));
    expect(made.fields.count).toBe(5);
    const post = `${posts}/${made.id}`;
    expect(expectOk(await user.patch(post, { title: 'b' })).fields.count).toBe(6);
    expectError(await user.post(posts, { count: 5 }), 403, 'forbidden');
    expectError(await user.patch(post, { count: 6 }), 403, 'forbidden');
    expectOk(await app.admin.patch(post, { count: 7 }));
  });

  it('admits a new record as its caller sent it and as hooks leave it', async () => {
    const app = await hookedApp(
      own,
      `
      onRecordBeforeCreate('posts', async (e) => {
        await $app.records.create('seen', { what: e.record.fields.title });
        e.record.fields.count = e.record.fields.title === 'fill' ? 1 : 2;
      });`,
    );
    await setRules(app, 'posts', { create: 'count = 1' });
    const posts = app.records('posts');
    expectError(await user.post(posts, { title: 'fill' }), 403, 'forbidden');
    expectError(await user.post(posts, { title: 'leave', count: 1 }), 403, 'forbidden');
    expectOk(await user.post(posts, { title: 'fill', count: 1 }));
    expect((await seen(app)).map(({ what }) => what)).toEqual(['leave', 'fill']);
  });

  it('rule.relation-target: keeps hooks from being asked about relations that the caller may not make', async () => {
    const app = await hookedApp(
      own,
      `
      const note = (what) => () => $app.records.create('seen', { what });
      onRecordBeforeCreate('comments', note('create'));
      onRecordBeforeUpdate('comments', note('update'));`,
    );
    await setRules(app, 'comments', { create: 'any', update: 'any' });
    const { id } = expectOk(await app.admin.post(app.records('posts'), { title: 'hidden' }));
    const comments = app.records('comments');
    expectError(await user.post(comments, { post: id }), 400, 'validation');
    const made = expectOk(await user.post(comments, { text: 'mine' }));
    const comment = `${comments}/${made.id}`;
    expectError(await user.patch(comment, { about: id }), 400, 'validation');
    expectOk(await user.patch(comment, { text: 'still mine' }));
    expect((await seen(app)).map(({ what }) => what)).toEqual(['create', 'update']);
  });

  it('keeps hooks from being asked about records that the caller may not change', async () => {
    const app = await hookedApp(
      own,
      `
      const note = (what) => () => $app.records.create('seen', { what });
      onRecordBeforeUpdate('posts', note('update'));
      onRecordBeforeDelete('posts', note('delete'));`,
    );
    await setRules(app, 'posts', { update: 'count = 1', delete: 'count = 1' });
    const posts = app.records('posts');
    const post = `${posts}/${expectOk(await app.admin.post(posts, { title: 'a', count: 1 })).id}`;
    expectOk(await user.patch(post, { count: 2 }));
    expectError(await user.patch(post, { count: 1 }), 403, 'forbidden');
    expectError(await user.delete(post), 403, 'forbidden');
    expectOk(await app.admin.patch(post, { count: 1 }));
    expectOk(await user.delete(post));
    expect((await seen(app)).map(({ what }) => what)).toEqual(['update', 'update', 'delete']);
  });

  it('rule.relation-target: lets hooks make relations that the caller may not', async () => {
    const app = await hookedApp(
      own,
      `
      onRecordBeforeCreate('comments', (e) => { e.record.fields.post = e.record.fields.text; });
      onRecordBeforeUpdate('comments', (e) => { e.record.fields.about = e.record.fields.text; });`,
    );
    await setRules(app, 'comments', { create: 'any', update: 'any' });
    const { id } = expectOk(await app.admin.post(app.records('posts'), { title: 'hidden' }));
    const comments = app.records('comments');
    const made = expectOk(await user.post(comments, { text: id }));
    expect(made.fields).toMatchObject({ post: id, about: null });
    const changed = expectOk(await user.patch(`${comments}/${made.id}`, { text: id }));
    expect(changed.fields).toMatchObject({ post: id, about: id });
  });

  it('rule.toctou: holds for what it looks at as it is once hooks have answered', async () => {
    const close = `$app.records.update('posts', e.record.fields.post, { title: 'closed' })`;
    const app = await hookedApp(
      own,
      `
      onRecordBeforeCreate('comments', async (e) => { if (e.auth.role === 'user') await ${close}; });
      onRecordBeforeUpdate('comments', async (e) => { await ${close}; });
      onRecordBeforeDelete('comments', async (e) => { await ${close}; });`,
    );
    const rule = 'post.title = "open"';
    await setRules(app, 'posts', { get: 'any' });
    await setRules(app, 'comments', { create: rule, update: rule, delete: rule });
    const [posts, comments] = [app.records('posts'), app.records('comments')];
    const post = String(expectOk(await app.admin.post(posts, { title: 'open' })).id);
    const kept = expectOk(await app.admin.post(comments, { post, text: 'as it was' }));
    const writes = [
      () => user.post(comments, { post, text: 'new' }),
      () => user.patch(`${comments}/${kept.id}`, { text: 'changed' }),
      () => user.delete(`${comments}/${kept.id}`),
    ];
    for (const write of writes) {
      expectOk(await app.admin.patch(`${posts}/${post}`, { title: 'open' }));
      expectError(await write(), 403, 'forbidden');
      expect(expectOk(await app.admin.get(`${posts}/${post}`)).fields.title).toBe('closed');
      expect(expectOk(await app.admin.get(comments)).items).toEqual([kept]);
    }
  });
});
