// The examples of docs/reference/collections.md about fields of many, run as a reader would.
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import type { Caller } from '../../../harness/api.ts';
import { blocksOf } from '../../../harness/documentation-page.ts';
import { scenario } from '../../../harness/scenario.ts';

const page = readFileSync(new URL('../../../../docs/reference/collections.md', import.meta.url), 'utf8');
const blocks = blocksOf(page.slice(page.indexOf('### Fields of many')));
const [declared, values] = [textOf('json'), textOf('values')];

let admin: Caller;
let records: string;

/** The first block of a kind. */
function textOf(wanted: string): string {
  return blocks.find(({ kind }) => kind === wanted)?.text ?? '';
}

beforeAll(async () => {
  const made = await scenario({ collections: { articles: [JSON.parse(declared)] } });
  ({ admin } = made);
  records = made.records('articles');
});

it.each(values.trim().split('\n').map((line) => line.split(' → ')))(
  '%s is stored as %s',
  async (given, stored) => {
    const { status, body } = await admin.post(records, { labels: JSON.parse(given ?? '') });
    expect(status === 201 ? JSON.stringify(body.fields.labels) : body.message).toBe(stored);
  },
);
