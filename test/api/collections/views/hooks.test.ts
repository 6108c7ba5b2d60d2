// Views in hooks: they are read like any collection, and refuse what would write them.
import { beforeAll, expect, it } from 'vitest';
import { expectOk } from '../../../harness/api.ts';
import { type Scenario, scenario, title } from '../../../harness/scenario.ts';

let own: Scenario;

const source = `
routerAdd('GET', '/titles', async () => (await $app.records.list('loud', { filter: "title = 'A'" })).items.map((r) => r.fields));
routerAdd('POST', '/write', async () => {
  try {
    await $app.records.create('loud', { title: 'x' });
    return { refused: null };
  } catch (error) {
    return { refused: error.message };
  }
});
`;

beforeAll(async () => {
  own = await scenario({ collections: { notes: [title] } });
  const schema = { id: 'loud', kind: 'view', query: 'select id, upper(title) as title from notes' };
  expectOk(await own.admin.post(own.collections, { schema }));
  await own.make(own.records('notes'), { title: 'a' });
  await own.make(own.records('notes'), { title: 'b' });
  const put = expectOk(await own.admin.put(`${own.app.path}/hooks/views.js`, { source }));
  expect(put.reload.errors).toEqual([]);
});

it('$app.records reads a view, and cannot write it', async () => {
  expect((await own.admin.get(`${own.app.path}/custom/titles`)).body).toEqual([{ title: 'A' }]);
  const { refused } = (await own.admin.post(`${own.app.path}/custom/write`)).body;
  expect(refused).toContain('"loud" is a view: its records are read-only');
  expect((await own.admin.get(own.records('notes'))).body.total_items).toBe(2);
});
