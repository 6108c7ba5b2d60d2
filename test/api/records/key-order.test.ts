// The order in which the keys of `json` come back: docs/reference/collections.md.
import { expect, it } from 'vitest';
import { expectOk, ownWorkspace } from '../../harness/api.ts';

it('is by length and then by bytes, in every response', async () => {
  const { admin, path } = await (await ownWorkspace()).app();
  const fields = [{ name: 'meta', kind: 'json' }, { name: 'text', kind: 'text' }];
  expectOk(await admin.post(`${path}/collections`, { schema: { id: 'metas', kind: 'base', fields } }));
  const records = `${path}/collections/metas/records`;
  const sent = '{"title":1,"b":7,"é":5,"a":6,"list":[{"zz":1,"y":2},"b","a"]}';
  const ordered = '{"a":6,"b":7,"é":5,"list":[{"y":2,"zz":1},"b","a"],"title":1}';
  const created = await admin.post(records, `{"meta":${sent}}`);
  const one = `${records}/${expectOk(created).id}`;
  const responses = [
    created,
    await admin.get(one),
    await admin.patch(one, { text: 'changed' }),
    await admin.get(records),
  ];
  for (const { text } of responses) expect(text).toContain(`"meta":${ordered}`);
});

it('is of keys that are there once', async () => {
  const { admin, path } = await (await ownWorkspace()).app();
  const fields = [{ name: 'meta', kind: 'json' }];
  expectOk(await admin.post(`${path}/collections`, { schema: { id: 'metas', kind: 'base', fields } }));
  const { body } = await admin.post(`${path}/collections/metas/records`, '{"meta":{"b":1,"b":2}}');
  expect(body).toMatchObject({ code: 'validation', message: 'b: is given twice' });
});
