// The id of a new record, as a before-hook sees it and cannot change it.
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { expectOk, type OwnWorkspace, ownWorkspace } from '../../harness/api.ts';
import { hookedApp } from '../../harness/hooked-app.ts';

let own: OwnWorkspace;

beforeAll(async () => {
  own = await ownWorkspace();
});

it('is seen as it will be where a caller has chosen it, alone or in a batch', async () => {
  const app = await hookedApp(
    own,
    `
    onRecordBeforeCreate('posts', (e) => { e.record.fields.title = e.record.id; });`,
  );
  const [alone, batched] = [randomUUID(), randomUUID()];
  const body = (id: string) => ({ id: id.toUpperCase() });
  const made = expectOk(await app.admin.post(app.records('posts'), body(alone)));
  expect([made.id, made.fields.title]).toEqual([alone, alone]);
  const requests = [{ method: 'POST', collection: 'posts', body: body(batched) }];
  const { results } = expectOk(await app.admin.post(`${app.path}/batch`, { requests }));
  expect(results).toMatchObject([{ body: { id: batched, fields: { title: batched } } }]);
});

it('is not for a hook to say, alone or in a batch', async () => {
  const app = await hookedApp(
    own,
    `
    onRecordBeforeCreate('posts', (e) => { e.record.fields.id = '01890000-0000-7000-8000-000000000001'; });`,
  );
  const alone = await app.admin.post(app.records('posts'), { title: 'a' });
  expect([alone.status, alone.body]).toMatchObject([400, { message: 'id: unknown field' }]);
  const requests = [{ method: 'POST', collection: 'posts', body: { title: 'a' } }];
  const batch = await app.admin.post(`${app.path}/batch`, { requests });
  expect([batch.status, batch.body.message]).toEqual([400, 'requests.0: id: unknown field']);
  expect(expectOk(await app.admin.get(app.records('posts'))).items).toEqual([]);
});
