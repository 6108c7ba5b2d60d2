// The examples of docs/reference/import-and-export.md, run as a reader would.
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { type Caller, expectOk } from '../../../harness/api.ts';
import { blocksOf } from '../../../harness/documentation-page.ts';
import { scenario } from '../../../harness/scenario.ts';

const page = new URL('../../../../docs/reference/import-and-export.md', import.meta.url);
const blocks = blocksOf(readFileSync(page, 'utf8'));
const textOf = (kind: string) => blocks.find((block) => block.kind === kind)?.text ?? '';

let admin: Caller;
let orders: string;

beforeAll(async () => {
  const fields = [
    { name: 'title', kind: 'text', required: true },
    { name: 'number', kind: 'text', unique: true },
    { name: 'total', kind: 'number' },
    { name: 'paid', kind: 'bool' },
    { name: 'tags', kind: 'json' },
  ];
  const made = await scenario({ collections: { orders: fields } });
  ({ admin } = made);
  orders = made.records('orders');
  const id = (n: number) => `01980000-0000-7000-8000-00000000000${n}`;
  await made.make(orders, { id: id(1), title: 'Tea, green', number: 'A-1', total: 2.5, tags: ['hot'] });
  await made.make(orders, { id: id(2), title: 'Milk' });
});

it.each(textOf('export').trim().split('\n').map((line) => line.split(' → ')))(
  'an export of %s is %s',
  async (query = '', text = '') => {
    const response = await admin.get(`${orders}/export?${query}`);
    expectOk(response);
    expect(response.text).toBe(JSON.parse(text));
  },
);

it('an import is refused with its errors, or reports them', async () => {
  const send = (query: string) =>
    admin.post(`${orders}/import${query}`, textOf('csv'), { 'Content-Type': 'text/csv' });
  const refused = await send('');
  expect([refused.status, refused.body.code, refused.body.errors]).toEqual([
    400,
    'validation',
    JSON.parse(textOf('json')),
  ]);
  const report = JSON.parse(textOf('report'));
  expect(expectOk(await send('?on_error=skip&dry_run=true'))).toEqual(report);
  expect(expectOk(await admin.get(orders)).total_items).toBe(2);
  expect(expectOk(await send('?on_error=skip'))).toEqual(report);
});
