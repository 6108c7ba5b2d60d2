// The examples of docs/reference/collections.md about values of records, run as a reader would.
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { type Caller, expectOk } from '../../../harness/api.ts';
import { blocksOf } from '../../../harness/documentation-page.ts';
import { upload } from '../../../harness/file-app.ts';
import { type Scenario, scenario } from '../../../harness/scenario.ts';

const page = readFileSync(new URL('../../../../docs/reference/collections.md', import.meta.url), 'utf8');
const [declared, values] = [textOf('### Fields of many', 'json'), textOf('### Fields of many', 'values')];
const limited = textOf('### Limits of files', 'json');
const files = textOf('### Limits of files', 'files');
const changing = '### Changing a value from what it is';
const [record, updates] = [textOf(changing, 'json'), textOf(changing, 'update')];

let made: Scenario;
let admin: Caller;
let records: string;
let counted: string;

/** The first block of a kind below a heading. */
function textOf(heading: string, wanted: string): string {
  return blocksOf(page.slice(page.indexOf(heading))).find(({ kind }) => kind === wanted)?.text ?? '';
}

function examplesOf(block: string): string[][] {
  return block.trim().split('\n').map((line) => line.split(' → '));
}

beforeAll(async () => {
  made = await scenario({
    collections: {
      articles: [JSON.parse(declared)],
      scanned: [JSON.parse(limited)],
      counted: [{ name: 'count', kind: 'number', max: 10 }, { ...JSON.parse(declared), max: 3 }],
    },
  });
  ({ admin } = made);
  records = made.records('articles');
  counted = made.records('counted');
});

it.each(examplesOf(values))(
  '%s is stored as %s',
  async (given, stored) => {
    const { status, body } = await admin.post(records, { labels: JSON.parse(given ?? '') });
    expect(status === 201 ? JSON.stringify(body.fields.labels) : body.message).toBe(stored);
  },
);

it.each(examplesOf(updates))('the update %s makes %s', async (given, changed) => {
  const { id } = expectOk(await admin.post(counted, JSON.parse(record)));
  const { status, body } = await admin.patch(`${counted}/${id}`, JSON.parse(given ?? ''));
  expect(status === 200 ? JSON.stringify(body.fields) : body.message).toBe(changed);
});

it.each(examplesOf(files))('%s: %s', async (given, result) => {
  const [, type, bytes] = /^(\S+) of (\d+) bytes$/.exec(given ?? '') ?? [];
  const { id } = await upload(admin, made.app, 'x'.repeat(Number(bytes)), { type: type ?? '' });
  const { status, body } = await admin.post(made.records('scanned'), { scan: id });
  expect(status === 201 ? 'stored' : body.message).toBe(result);
});
