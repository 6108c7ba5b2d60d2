// Batches whose writes have hooks.
import { expect, it } from 'vitest';
import { expectOk, ownWorkspace } from '../../harness/api.ts';
import { hookedApp, seen } from '../../harness/hooked-app.ts';

it('runs hooks once for each write, with the record as the writes before it and their hooks have left it', async () => {
  const app = await hookedApp(
    await ownWorkspace(),
    `
    onRecordBeforeUpdate('posts', async (e) => {
      const { title, count } = e.record.fields;
      await $app.records.create('seen', { what: title, data: { from: e.previous.fields.title, count } });
      e.record.fields.count = Number(count ?? 0) + 1;
    });`,
  );
  const { id } = expectOk(await app.admin.post(app.records('posts'), { title: 'a' }));
  const requests = ['b', 'c', 'd'].map((title) => ({
    method: 'PATCH',
    collection: 'posts',
    id,
    body: { title },
  }));
  const { results } = expectOk(await app.admin.post(`${app.path}/batch`, { requests }));
  const counts = results.map(({ body }: { body: { fields: { count: number } } }) => body.fields.count);
  expect(counts).toEqual([1, 2, 3]);
  expect(await seen(app)).toEqual([
    { what: 'b', data: { from: 'a', count: null } },
    { what: 'c', data: { from: 'b', count: 1 } },
    { what: 'd', data: { from: 'c', count: 2 } },
  ]);
});

it('runs hooks for a write that is the same as the one before it', async () => {
  const app = await hookedApp(
    await ownWorkspace(),
    `
    onRecordBeforeUpdate('posts', (e) => $app.records.create('seen', { what: e.previous.fields.title }).then(() => {}));`,
  );
  const { id } = expectOk(await app.admin.post(app.records('posts'), { title: 'a' }));
  const request = { method: 'PATCH', collection: 'posts', id, body: { title: 'b' } };
  expectOk(await app.admin.post(`${app.path}/batch`, { requests: [request, request, request] }));
  expect((await seen(app)).map(({ what }) => what)).toEqual(['a', 'b', 'b']);
});
