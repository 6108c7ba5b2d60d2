// In which order handlers run, who they are told wants a write, and where the log says that one has failed.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { hookedApp } from '../../harness/hooked-app.ts';

let own: OwnWorkspace;

beforeAll(async () => {
  own = await ownWorkspace();
});

describe('handlers', () => {
  it('run in the order of their files by name, then of their registration', async () => {
    const { admin, path } = await own.app();
    const fields = [{ name: 'title', kind: 'text' }];
    expectOk(await admin.post(`${path}/collections`, { schema: { id: 'posts', kind: 'base', fields } }));
    const file = (name: string) => `
      onRecordBeforeCreate('posts', (e) => { e.record.fields.title += ' ${name}1'; });
      onRecordBeforeCreate('posts', (e) => { e.record.fields.title += ' ${name}2'; });`;
    for (const name of ['b', 'c', 'a', 'B']) {
      expectOk(await admin.put(`${path}/hooks/${name}.js`, { source: file(name) }));
    }
    const made = expectOk(await admin.post(`${path}/collections/posts/records`, { title: '' }));
    expect(made.fields.title).toBe(' B1 B2 a1 a2 b1 b2 c1 c2');
    const { items } = expectOk(await admin.get(`${path}/hooks`));
    expect(items.map(({ filename }: { filename: string }) => filename))
      .toEqual(['B.js', 'a.js', 'b.js', 'c.js']);
  });

  it('of a write that a hook makes are told so, in place of whoever the hook ran for', async () => {
    const app = await hookedApp(
      own,
      `
      onRecordAfterCreate('posts', (e) => $app.records.create('seen', { what: e.auth.role }));
      onRecordBeforeCreate('seen', (e) => { e.record.fields.data = e.auth; });`,
    );
    expectOk(await app.admin.post(app.records('posts'), {}));
    const { items } = expectOk(await app.admin.get(app.records('seen')));
    expect(items.map(({ fields }: { fields: object }) => fields)).toEqual([{
      what: 'app_admin',
      data: { id: 'hook', email: '', role: 'hook', workspace: own.id, app: app.id },
    }]);
  });
});

describe('a handler that fails', () => {
  const failing = `
onRecordBeforeCreate('comments', () => {
  throw new Error('no comments');
});
onRecordAfterCreate('posts', (e) => {
  if (e.record.fields.title === 'never') return new Promise(() => {});
  throw new Error('after all');
});`;

  it('after the write changes nothing of its response, and is in the log with its place', async () => {
    const { admin, path, records } = await hookedApp(own, failing);
    const headers = { 'X-Request-Id': 'after-1' };
    expect((await admin.post(records('posts'), { title: 'x' }, headers)).status).toBe(201);
    const newest = async () => expectOk(await admin.get(`${path}/hooks/logs`)).items[0];
    expect(await newest()).toMatchObject({
      level: 'error',
      message: 'Error: after all',
      file: 'hooks.ts',
      request_id: 'after-1',
      fields: { line: 7, column: 9 },
    });
    expectOk(await admin.put(`${path}/policies/hooks.timeout_ms`, { kind: 'range', min: 1, max: 500 }));
    expect((await admin.post(records('posts'), { title: 'never' })).status).toBe(201);
    expect(await newest()).toMatchObject({
      level: 'error',
      message: 'after_create of posts: the hook did not finish in time',
      file: 'hooks.ts',
    });
    expect(expectOk(await admin.get(records('posts'))).total_items).toBe(2);
  });

  it('before the write is in the log with its place, too', async () => {
    const { admin, path, records } = await hookedApp(own, failing);
    const headers = { 'X-Request-Id': 'before-1' };
    const refused = await admin.post(records('comments'), {}, headers);
    expect(refused.body).toEqual({ code: 'hook_veto', message: 'no comments' });
    expect(expectOk(await admin.get(`${path}/hooks/logs`)).items[0]).toMatchObject({
      level: 'error',
      message: 'Error: no comments',
      file: 'hooks.ts',
      request_id: 'before-1',
      fields: { line: 3, column: 9 },
    });
  });
});
