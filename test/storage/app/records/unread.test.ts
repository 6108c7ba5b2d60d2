// JSON fields, which are passed on without being read.
import { expect, it } from 'vitest';
import type { CollectionDefinition } from '../../../../storage/definition.ts';
import { JsonText, toJson } from '../../../../storage/sql/json-text.ts';
import { planFor } from '../../../../storage/app/records/plan.ts';

const collection: CollectionDefinition = {
  id: 'things',
  kind: 'base',
  fields: [{ name: 'meta', kind: 'json' }, { name: 'size', kind: 'number' }],
  rules: {},
  indexes: [],
  version: 1,
  created_at: new Date(0),
  updated_at: new Date(0),
};
const plan = planFor('app', collection);
const [id, time, shownTime] = ['an id', '2026-01-02 03:04:05.678+00', '2026-01-02T03:04:05.678Z'];

it('JSON fields stay text, which the driver does not read either', () => {
  const { text } = plan.list({ sort: [], withSnapshot: false }, { text: '', params: [] }, false);
  expect(text).toContain('"meta"::text');
  expect(plan.selectOne('').text).toContain('"meta"::text');
  expect(plan.record([id, time, time, '{"a": 1}', 2]).fields).toEqual({
    meta: new JsonText('{"a": 1}'),
    size: 2,
  });
  expect(plan.record([id, time, time, null, null])).toEqual({
    id,
    collection: 'things',
    fields: { meta: null, size: null },
    created_at: shownTime,
    updated_at: shownTime,
  });
});

it.each([
  ['takes it as it is where it is long', `{"10": 1.0, "2": [ ], "text": "${'x'.repeat(20_000)}"}`, 3],
  ['writes it again where it is short', '{"10": 1.0, "2": [ ]}', 1],
])('JSON of records %s, and says the same', (_what, text, pieces) => {
  const record = plan.record([id, time, time, text, 2]);
  const response = { items: [record, null, { expand: { of: record }, left: undefined }], at: new Date(0) };
  expect(toJson(response).split(text)).toHaveLength(pieces);
  expect(JSON.parse(toJson(response))).toEqual(JSON.parse(JSON.stringify(response)));
  expect(JSON.stringify(record.fields)).toMatch(/^\{"meta":\{"2":\[\],"10":1[,}].*"size":2\}$/);
});

it('it is parsed once, when it is first read', () => {
  const unread = new JsonText('{"a": [1]}');
  const read = unread.value;
  expect(read).toEqual({ a: [1] });
  expect(unread.value).toBe(read);
  expect(JSON.stringify(unread)).toBe('{"a":[1]}');
});
