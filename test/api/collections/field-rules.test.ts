// Rules that read a field which a change of its collection leaves out.
import { expect, it } from 'vitest';
import { scenario } from '../../harness/scenario.ts';

const title = { name: 'title', kind: 'text' };

it('a rule is named before its field is dropped, also when another collection has it', async () => {
  const made = await scenario();
  const state = { name: 'state', kind: 'text' };
  await made.define('parents', [title, state], { list: 'state = "public"', get: 'title = "state"' });
  const parent = { name: 'parent', kind: 'relation', target: 'parents' };
  await made.define('children', [parent], { update: 'parent.state != "closed"' });
  const path = `${made.collections}/parents`;
  const { body } = await made.admin.patch(path, { schema: { fields: [title] } });
  expect(body.errors).toEqual([{
    path: 'schema.fields.state',
    code: 'invalid',
    message: 'is missing; to drop it and its data, add ?confirm=drop; until you change them, these access ' +
      'rules will then admit admins only: children.update, parents.list',
  }]);
  await made.setRules('parents', { list: 'any' });
  await made.setRules('children', { update: 'any' });
  const freed = await made.admin.patch(path, { schema: { fields: [title] } });
  expect(freed.body.message).toBe(
    'schema.fields.state: is missing; to drop it and its data, add ?confirm=drop',
  );
});
