// Fields of kind `file`: they hold files of the app, and follow them when they go.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { as, expectOk, serverUrl } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { fileApp, upload } from '../../harness/file-app.ts';
import { tokenOf } from '../../harness/watched.ts';
import { openEvents } from '../realtime/event-client.ts';

const files = await fileApp();
const { app } = files;
const posts = await collection('posts', { name: 'cover', kind: 'file' });

/** Makes a collection that anybody may write, and answers the path of its records. */
async function collection(id: string, ...fields: object[]): Promise<string> {
  expectOk(await app.admin.post(`${app.path}/collections`, { schema: { id, kind: 'base', fields } }));
  const path = `${app.path}/collections/${id}`;
  for (const action of ['create', 'update', 'get']) {
    expectOk(await app.admin.put(`${path}/access_rules/${action}`, { template: 'any' }));
  }
  return `${path}/records`;
}

describe('a field of kind file', () => {
  it('holds a file of the app, and no id of anything else', async () => {
    const { id } = await upload(files.user, app, 'x');
    expect(expectOk(await files.user.post(posts, { cover: id })).fields).toEqual({ cover: id });
    const elsewhere = await files.own.app();
    const foreign = await upload(elsewhere.admin, elsewhere, 'x');
    for (const cover of [randomUUID(), foreign.id]) {
      const response = await app.admin.post(posts, { cover });
      expectError(response, 400, 'validation');
      expect(response.body.message).toBe('cover: there is no file with this id');
    }
  });

  it('rule.relation-target: tells a caller who may not read files nothing of which there are', async () => {
    const { id } = await upload(files.user, app, 'x');
    const [there, notThere] = [
      await as().post(posts, { cover: id }),
      await as().post(posts, { cover: randomUUID() }),
    ];
    expectError(there, 400, 'validation');
    expect(there.body).toEqual(notThere.body);
    expectOk(await as().post(posts, {}));
  });

  it('is emptied when its file is deleted, which watchers hear of', async () => {
    const { id } = await upload(files.user, app, 'x');
    const record = expectOk(await app.admin.post(posts, { cover: id }));
    const path = posts.replace(/records$/, 'events');
    const watcher = await openEvents(Number(new URL(serverUrl()).port), { path, token: tokenOf(app.admin) });
    expectOk(await files.user.delete(`${app.path}/files/${id}`));
    const [heard] = await watcher.count(1);
    expect(heard).toMatchObject({
      event: 'record_updated',
      data: { id: record.id, fields: { cover: null } },
    });
    const after = expectOk(await app.admin.get(`${posts}/${record.id}`));
    expect(after.fields).toEqual({ cover: null });
    expect(Date.parse(after.updated_at)).toBeGreaterThanOrEqual(Date.parse(record.updated_at));
  });

  it('keeps its file from being deleted when it is required', async () => {
    const needy = await collection('needy', { name: 'cover', kind: 'file', required: true });
    const { id } = await upload(files.user, app, 'x');
    const record = expectOk(await app.admin.post(needy, { cover: id }));
    expectError(await app.admin.delete(`${app.path}/files/${id}`), 409, 'conflict');
    expectOk(await app.admin.get(`${app.path}/files/${id}`));
    expectOk(await app.admin.delete(`${needy}/${record.id}`));
    expectOk(await app.admin.get(`${app.path}/files/${id}`));
    expectOk(await app.admin.delete(`${app.path}/files/${id}`));
  });

  it('may be added to a collection that has records, and be unique', async () => {
    const later = await collection('later', { name: 'title', kind: 'text' });
    expectOk(await app.admin.post(later, { title: 'first' }));
    const schema = {
      id: 'later',
      kind: 'base',
      fields: [{ name: 'title', kind: 'text' }, { name: 'cover', kind: 'file', unique: true }],
    };
    expectOk(await app.admin.patch(`${app.path}/collections/later`, { schema }));
    const { id } = await upload(files.user, app, 'x');
    expectOk(await app.admin.post(later, { cover: id }));
    expectError(await app.admin.post(later, { cover: id }), 409, 'conflict');
  });
});
