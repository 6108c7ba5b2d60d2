// Rules that would have to look at large texts many times.
import { expect, it } from 'vitest';
import { as, expectOk } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { scenario, title } from '../../harness/scenario.ts';

const app = await scenario();
const user = await app.user();

/** A rule of about as many comparisons as its text has room for. */
const often = (comparison: (index: number) => string) =>
  Array.from({ length: 60 }, (_, index) => comparison(index)).join(' || ');

it.each([
  ['a pattern in the body', () => '@request.body.title ~ "%xb%"'],
  ['two members of the body', () => '@request.body.title < @request.body.title'],
  ['a column and the body', (index: number) => `${index % 2 ? 'title' : 'note'} ~ @request.body.title`],
])('a rule looks at a large body a few times only: %s', async (kind, comparison) => {
  const fields = [title, { name: 'note', kind: 'text' }];
  const id = `large_${kind.replaceAll(' ', '_')}`;
  const records = await app.define(id, fields, { create: often(comparison) });
  const refused = await as().post(records, { title: 'x'.repeat(5_000_000) });
  expectError(refused, 400, 'validation');
  expect(refused.body.message).toContain('access rule would look at');
  expectError(await user.post(records, { title: 'x'.repeat(1_000) }), 403, 'forbidden');
});

it('a record whose texts are too long to be compared here is compared by the database', async () => {
  const fields = [title, { name: 'note', kind: 'text' }];
  // What decides comes last, behind more than is compared here.
  const get = `${often(() => 'note < title')} || title < note`;
  const records = await app.define('compared', fields, { get });
  const text = 'x'.repeat(2_000_000);
  const [shown, hidden] = [
    await app.make(records, { title: `${text}a`, note: `${text}b` }),
    await app.make(records, { title: `${text}b`, note: `${text}b` }),
  ];
  expect(expectOk(await user.get(`${records}/${shown}`)).fields.note).toHaveLength(2_000_001);
  expectError(await user.get(`${records}/${hidden}`), 403, 'forbidden');
});
