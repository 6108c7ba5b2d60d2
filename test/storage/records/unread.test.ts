// Records that are only to be shown.
import { expect, it } from 'vitest';
import type { CollectionDefinition } from '../../../storage/definition.ts';
import { JsonText } from '../../../storage/json-text.ts';
import { planOf } from '../../../storage/records/plan.ts';

const collection: CollectionDefinition = {
  id: 'things',
  kind: 'base',
  fields: [{ name: 'meta', kind: 'json' }, { name: 'size', kind: 'number' }],
  rules: {},
  version: 1,
  created_at: new Date(0),
  updated_at: new Date(0),
};
const plan = planOf('app', collection);
const [id, time, shownTime] = ['an id', '2026-01-02 03:04:05.678+00', '2026-01-02T03:04:05.678Z'];

it('have the text of their JSON, which the driver does not read either', () => {
  const { text } = plan.list({ sort: [], stamped: false }, { text: '', params: [] }, false);
  expect(text).toContain('"meta"::text');
  expect(plan.unreadRecord([id, time, time, '{"a": 1}', 2]).fields).toEqual({
    meta: new JsonText('{"a": 1}'),
    size: 2,
  });
  expect(plan.unreadRecord([id, time, time, null, null])).toEqual({
    id,
    collection: 'things',
    fields: { meta: null, size: null },
    created_at: shownTime,
    updated_at: shownTime,
  });
});

it('become the same JSON as those that are read', () => {
  const meta = { a: [1, 'b'] };
  const unread = plan.unreadRecord([id, time, time, JSON.stringify(meta), 2]);
  expect(JSON.stringify(unread)).toBe(JSON.stringify(plan.record([id, time, time, meta, 2])));
});
