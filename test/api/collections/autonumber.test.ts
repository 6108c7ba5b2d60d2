// Fields that number records: 1, 2, 3 … without gap or double, in a collection or for each value of another field.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk } from '../../harness/api.ts';
import { type Scenario, scenario, title } from '../../harness/scenario.ts';

let own: Scenario;

const project = { name: 'project', kind: 'relation', target: 'projects', required: true };
const team = { name: 'team', kind: 'text', required: true };
const number = { name: 'number', kind: 'number', autonumber: { within: 'team' } };

beforeAll(async () => {
  own = await scenario({ collections: { projects: [title] } });
});

async function patch(id: string, fields: unknown[], query = '') {
  return await own.admin.patch(`${own.collections}/${id}${query}`, { schema: { fields } });
}

/** The numbers of all records, by the value of a field. */
async function numbersOf(id: string, field = 'team', name = 'number'): Promise<Record<string, number[]>> {
  const { items } = expectOk(await own.admin.get(`${own.records(id)}?sort=${name}&per_page=200`));
  const groups = Object.groupBy(
    items.map(({ fields }: { fields: Record<string, unknown> }) => fields),
    (fields: Record<string, unknown>) => String(fields[field]),
  );
  return Object.fromEntries(
    Object.entries(groups).map(([key, some]) => [key, (some ?? []).map((fields) => Number(fields[name]))]),
  );
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

describe('a number', () => {
  it('counts the records of each project by itself, with 100 creates at once', async () => {
    const id = 'issues';
    await own.define(id, [project, { ...number, autonumber: { within: 'project' } }]);
    const [one, other] = [
      await own.make(own.records('projects'), {}),
      await own.make(own.records('projects'), {}),
    ];
    const creates = Array.from(
      { length: 100 },
      (_, n) => own.admin.post(own.records(id), { project: n % 4 === 0 ? other : one }),
    );
    const created = (await Promise.all(creates)).map((response) => expectOk(response));
    expect(created.every(({ fields }) => fields.number >= 1)).toBe(true);
    expect(await numbersOf(id, 'project')).toEqual({ [one ?? '']: upTo(75), [other ?? '']: upTo(25) });
  });

  it.each([['all', {}], ['flag', true]])(
    'counts all records of a collection: %s',
    async (name, autonumber) => {
      const id = `whole_${name}`;
      await own.define(id, [title, { ...number, autonumber }]);
      for (const value of ['a', 'b', 'c']) await own.make(own.records(id), { title: value });
      expect(await numbersOf(id, 'title')).toEqual({ a: [1], b: [2], c: [3] });
      expect((await own.admin.get(`${own.collections}/${id}`)).body.schema.fields[1].autonumber).toEqual(
        autonumber,
      );
    },
  );

  it('is not lost with a create that fails, and not given again after a deletion', async () => {
    const hooks = {
      'veto.js':
        `onRecordBeforeCreate('tasks', (e) => { if (e.record.fields.title === 'no') throw new Error('no'); });
      onRecordBeforeUpdate('tasks', (e) => { e.record.fields.title += '!'; });`,
    };
    const unique = { ...title, unique: true };
    const app = await scenario({
      collections: { tasks: [unique, team, number] },
      rules: { tasks: { create: 'title = "mine"' } },
      hooks,
    });
    const records = app.records('tasks');
    const make = (values: object) => app.admin.post(records, { team: 'a', ...values });
    expect(expectOk(await make({ title: 'first' })).fields.number).toBe(1);
    expect((await make({ title: 'first' })).status).toBe(409);
    expect((await make({ title: 'no' })).body.code).toBe('hook_veto');
    const user = await app.user();
    expect((await user.post(records, { team: 'a', title: 'other' })).status).toBe(403);
    expect(expectOk(await user.post(records, { team: 'a', title: 'mine' })).fields.number).toBe(2);
    const failing = {
      requests: [{ title: 'x' }, { title: 'y' }, { title: 'first' }].map((values) => (
        { method: 'POST', collection: 'tasks', body: { team: 'a', ...values } }
      )),
    };
    expect((await app.admin.post(`${app.app.path}/batch`, failing)).status).toBe(409);
    const batch = { requests: failing.requests.slice(0, 2) };
    const { results } = expectOk(await app.admin.post(`${app.app.path}/batch`, batch));
    expect(results.map(({ body }: { body: { fields: { number: number } } }) => body.fields.number)).toEqual([
      3,
      4,
    ]);
    const last = results[1].body;
    expectOk(await app.admin.delete(`${records}/${last.id}`));
    expect(expectOk(await make({ title: 'next' })).fields.number).toBe(5);
    const changed = expectOk(await app.admin.patch(`${records}/${results[0].body.id}`, { title: 'z' }));
    expect(changed.fields).toEqual({ title: 'z!', team: 'a', number: 3 });
  });

  it('is given by the server only, and its record stays among those that it is numbered with', async () => {
    await own.define('strict', [team, number, title]);
    const records = own.records('strict');
    const reason = 'is given by the server';
    for (const value of [5, null, 'x']) {
      const created = await own.admin.post(records, { team: 'a', number: value });
      expect([created.status, created.body.message]).toEqual([400, `number: ${reason}`]);
    }
    const { id, fields } = expectOk(await own.admin.post(records, { team: 'a' }));
    for (const value of [fields.number, null]) {
      const changed = await own.admin.patch(`${records}/${id}`, { number: value });
      expect([changed.status, changed.body.message]).toEqual([400, `number: ${reason}`]);
    }
    const raised = await own.admin.patch(`${records}/${id}`, { 'number+': 1 });
    expect([raised.status, raised.body.message]).toEqual([400, expect.stringContaining(reason)]);
    const moved = await own.admin.patch(`${records}/${id}`, { team: 'b', title: 'x' });
    const message = 'cannot be changed: the records are numbered within it (number)';
    expect([moved.status, moved.body.errors]).toEqual([400, [{ path: 'team', code: 'invalid', message }]]);
    expect(expectOk(await own.admin.patch(`${records}/${id}`, { team: 'a', title: 'y' })).fields).toEqual({
      ...{ team: 'a', number: 1, title: 'y' },
    });
  });

  it('is given to records that are there in the order of their creation, and goes on behind them', async () => {
    await own.define('old', [team, title]);
    for (const [value, name] of [['a', 'x'], ['b', 'x'], ['a', 'y'], ['a', 'z']]) {
      await own.make(own.records('old'), { team: value, title: name });
    }
    const { items } = expectOk(await own.admin.get(`${own.records('old')}?sort=created_at`));
    expectOk(await patch('old', [team, title, { ...number, required: true }]));
    await own.make(own.records('old'), { team: 'b', title: 'new' });
    expect(await numbersOf('old')).toEqual({ a: [1, 2, 3], b: [1, 2] });
    const after = expectOk(await own.admin.get(`${own.records('old')}?sort=created_at`)).items;
    const times = (list: { updated_at: string }[]) => list.map(({ updated_at }) => updated_at);
    expect(times(after).slice(0, 4)).toEqual(times(items));
  });

  it('keeps what a field has already, and fills the rest behind it', async () => {
    const plain = { name: 'number', kind: 'number' };
    await own.define('mixed', [team, plain]);
    for (const value of [7, null, 3, null]) {
      await own.make(own.records('mixed'), { team: 'a', number: value });
    }
    await own.make(own.records('mixed'), { team: 'b', number: null });
    expectOk(await patch('mixed', [team, number]));
    expect(await numbersOf('mixed')).toEqual({ a: [3, 7, 8, 9], b: [1] });
    await own.make(own.records('mixed'), { team: 'a' });
    // Taken off and put on again, also as the number of all records: the values stay.
    expectOk(await patch('mixed', [team, plain]));
    const refused = await patch('mixed', [team, { ...plain, autonumber: {} }]);
    expect(refused.status).toBe(200);
    expect((await numbersOf('mixed'))['a']).toEqual([3, 7, 8, 9, 10]);
    expect(await own.admin.post(own.records('mixed'), { team: 'b' })).toMatchObject({
      body: { fields: { number: 11 } },
    });
    expectOk(await patch('mixed', [team, plain]));
    await own.make(own.records('mixed'), { team: 'b', number: 1 });
    const doubles = await patch('mixed', [team, number]);
    expect([doubles.status, doubles.body.message]).toEqual([
      409,
      'team, number: cannot be unique, because 2 records have the same values',
    ]);
  });

  it('goes on under other names of both fields, and begins anew in a new collection', async () => {
    await own.define('renamed', [team, number]);
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(await own.make(own.records('renamed'), { team: 'a' }));
    expectOk(await own.admin.delete(`${own.records('renamed')}/${ids[2]}`));
    const group = { ...team, name: 'group', was: 'team' };
    const key = { ...number, name: 'key', was: 'number', autonumber: { within: 'group' } };
    const changed = expectOk(await patch('renamed', [group, key]));
    expect(changed.schema.fields[1]).toEqual({
      name: 'key',
      kind: 'number',
      autonumber: { within: 'group' },
    });
    await own.make(own.records('renamed'), { group: 'a' });
    expect(await numbersOf('renamed', 'group', 'key')).toEqual({ a: [1, 2, 4] });
    expectOk(await patch('renamed', [{ ...group, was: undefined }, { ...key, name: 'number', was: 'key' }]));
    await own.make(own.records('renamed'), { group: 'a' });
    expect(await numbersOf('renamed', 'group')).toEqual({ a: [1, 2, 4, 5] });
    expectOk(await own.admin.delete(`${own.collections}/renamed`));
    await own.define('renamed', [team, number]);
    await own.make(own.records('renamed'), { team: 'a' });
    expect(await numbersOf('renamed')).toEqual({ a: [1] });
  });

  it.each([
    [
      'of text',
      [{ ...number, kind: 'text', autonumber: {} }],
      'number.autonumber: is not a setting of text fields',
    ],
    ['with bounds', [{ ...number, autonumber: {}, min: 5 }], 'number.min: cannot be set beside autonumber'],
    ['with a default', [{ ...number, autonumber: {}, default: 5 }], 'number.default: is given by the server'],
    ['within nothing', [number], 'number.autonumber.within: the collection has no field "team" of its own'],
    [
      'within what may be empty',
      [{ ...team, required: false }, number],
      'number.autonumber.within: must be required: "team" is not',
    ],
    [
      'within a truth value',
      [{ name: 'team', kind: 'bool', required: true }, number],
      'number.autonumber.within: cannot be a bool field',
    ],
    [
      'of a misspelt kind',
      [team, { ...number, autonumber: { withn: 'team' } }],
      '1.autonumber.withn: unknown field',
    ],
    ['of a wrong type', [team, { ...number, autonumber: 'team' }], '1.autonumber: must be true or false'],
  ])('is not declared %s', async (_name, fields, message) => {
    const refused = await own.admin.post(own.collections, { schema: { id: 'refused', fields } });
    expect([refused.status, refused.body.message]).toEqual([400, `schema.fields.${message}`]);
  });

  it('does not change what it is numbered within, nor lose that field', async () => {
    await own.define('fixed', [team, title, number]);
    const other = { ...title, required: true };
    const changed = await patch('fixed', [team, other, { ...number, autonumber: { within: 'title' } }]);
    expect(changed.body.message).toBe(
      'schema.fields.number.autonumber: cannot be changed; take autonumber off the field first',
    );
    const dropped = await patch('fixed', [title, number], '?confirm=drop');
    expect(dropped.body.message).toContain('the collection has no field "team" of its own');
    expectOk(await patch('fixed', [title], '?confirm=drop'));
  });
});
