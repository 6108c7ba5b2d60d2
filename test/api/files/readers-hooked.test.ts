// Hooks and files: what hooks put into records its readers may read, and no hook sees a file that its caller may not read.
import { expect, it } from 'vitest';
import { as, expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { upload } from '../../harness/file-app.ts';
import { scenario, title } from '../../harness/scenario.ts';
import { freshEmail } from '../../harness/users.ts';

const cover = { name: 'cover', kind: 'file' };
const place = await scenario({
  collections: { posts: [title, cover], seen: [title] },
  rules: { posts: { get: 'auth', create: 'auth', update: 'auth' } },
});
const { app, admin } = place;
const schema = { id: 'people', kind: 'auth', fields: [cover] };
expectOk(await admin.post(place.collections, { schema }));
await place.setRules('people', { create: 'auth' });
const source = `
  for (const name of ['posts', 'people']) {
    const spy = (e) => $app.records.create('seen', { title: name + ' ' + e.record.fields.cover });
    onRecordBeforeCreate(name, spy);
    onRecordBeforeUpdate(name, spy);
  }
  onRecordBeforeCreate('posts', async (e) => {
    if (e.record.fields.title !== 'report') return;
    const made = await $app.files.create({ filename: 'report.txt', mime: 'text/plain', content: 'made' });
    e.record.fields.cover = made.id;
  });`;
expectOk(await admin.put(`${app.path}/hooks/files.ts`, { source }));
const [ada, bob] = [await place.user(), await place.user()];

it('what a hook stores is read by those who may get the record that it is put into', async () => {
  const { fields, id } = expectOk(await ada.post(place.records('posts'), { title: 'report' }));
  const path = `${app.path}/files/${fields.cover}`;
  for (const caller of [ada, bob]) expect((await caller.get(path)).text).toBe('made');
  expectError(await as().get(path), 401, 'unauthorized');
  expectOk(await ada.patch(`${place.records('posts')}/${id}`, { cover: null }));
  expectError(await ada.get(path), 403, 'forbidden');
});

it('no hook runs for a file that the caller may not read, not even for the profile of a new user', async () => {
  const { id } = await upload(ada, app, 'x');
  const own = expectOk(await bob.post(place.records('posts'), { title: 'own' })).id;
  const post = { method: 'POST', collection: 'posts', body: { cover: id } };
  for (
    const refused of [
      await bob.post(place.records('posts'), { cover: id }),
      await bob.patch(`${place.records('posts')}/${own}`, { cover: id }),
      await bob.post(place.records('people'), { email: freshEmail(), cover: id }),
      await bob.post(place.records('people'), { email: ada.email, cover: id }),
      await bob.post(`${app.path}/batch`, { requests: [post] }),
    ]
  ) expectError(refused, 400, 'validation');
  const seen = `${place.records('seen')}?filter=${encodeURIComponent(`title ~ "${id}"`)}`;
  expect(expectOk(await admin.get(seen)).items).toEqual([]);
  expectOk(await ada.post(place.records('people'), { email: freshEmail(), cover: id }));
  expect(expectOk(await admin.get(seen)).items).toMatchObject([{ fields: { title: `people ${id}` } }]);
});
