// Views that make long values of short ones: what they may take of the memory that all tenants share.
import { expect, it } from 'vitest';
import { expectOk } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { scenario, title } from '../../../harness/scenario.ts';

it('a view whose values take more memory than a process of PostgreSQL may have fails, and nothing else does', async () => {
  const own = await scenario({ collections: { notes: [title] } });
  const id = await own.make(own.records('notes'), { title: 'x'.repeat(700) });
  const query = "select id, length(replace(replace(title, 'x', title), 'x', title)) as size from notes";
  expectOk(await own.admin.post(own.collections, { schema: { id: 'large', kind: 'view', query } }));
  const list = () => own.admin.get(own.records('large'));
  for (const response of await Promise.all([list(), list(), list()])) {
    expectError(response, 503, 'unavailable');
  }
  expect(expectOk(await own.admin.get(own.records('notes'))).items).toMatchObject([{ id }]);
});
