// Pages of records that are too large for one response.
import { beforeAll, expect, it } from 'vitest';
import { expectOk, type OwnApp } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { scenario } from '../../harness/scenario.ts';

let app: OwnApp;
let records: string;

beforeAll(async () => {
  const fields = [{ name: 'text', kind: 'text' }, { name: 'meta', kind: 'json' }];
  const made = await scenario({ collections: { large: fields } });
  app = made.app;
  records = made.records('large');
  const text = 'x'.repeat(3_500_000);
  for (let count = 0; count < 10; count++) expectOk(await app.admin.post(records, { text, meta: [text] }));
});

it('a page of more than 64 MiB is refused with what to do, whatever kind its fields are, and smaller ones are not', async () => {
  const response = await app.admin.get(records);
  expectError(response, 400, 'validation');
  expect(response.body.message).toContain('per_page');
  const page = expectOk(await app.admin.get(`${records}?per_page=5&page=2`));
  expect(page.items).toHaveLength(5);
  expect(page.total_items).toBe(10);
  expect(page.items[4].fields.meta[0]).toHaveLength(3_500_000);
});
