// Changes of a collection that has records: defaults that are filled in, and what the records do not admit.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectOk } from '../../harness/api.ts';
import { type Scenario, scenario, title } from '../../harness/scenario.ts';
import { watched } from '../../harness/watched.ts';

let own: Scenario;

beforeAll(async () => {
  own = await scenario();
});

async function patch(id: string, fields: unknown[], query = '') {
  return await own.admin.patch(`${own.collections}/${id}${query}`, { schema: { fields } });
}

/** The values of a field in all records, in the order of their creation. */
async function valuesOf(id: string, field: string): Promise<unknown[]> {
  const { items } = expectOk(await own.admin.get(`${own.records(id)}?sort=created_at,id`));
  return items.map(({ fields }: { fields: Record<string, unknown> }) => fields[field]);
}

async function fieldsOf(id: string): Promise<unknown[]> {
  return (await own.admin.get(`${own.collections}/${id}`)).body.schema.fields;
}

describe('defaults', () => {
  const values = {
    text: 'it\'s \\ "quoted" \' and 😀',
    number: -1.5e-7,
    bool: false,
    json: { a: [1, "'", null] },
    datetime: '2026-01-02T03:04:05.678Z',
    email: 'ada@example.com',
    url: 'https://example.com/?a=b',
  };

  it.each(Object.entries(values))(
    'of a new field of kind %s fill records that are there',
    async (kind, value) => {
      const id = `filled_${kind}`;
      await own.define(id, [title]);
      const record = expectOk(await own.admin.post(own.records(id), { title: 'old' }));
      const field = { name: 'fresh', kind, default: value };
      expectOk(await patch(id, [title, field], '?fill=default'));
      const read = expectOk(await own.admin.get(`${own.records(id)}/${record.id}`));
      expect(read).toEqual({ ...record, fields: { title: 'old', fresh: value } });
      // They are values like any other: another default later does not change them.
      expectOk(await patch(id, [title, { ...field, default: undefined }]));
      expect(await valuesOf(id, 'fresh')).toEqual([value]);
      expectOk(await own.admin.post(own.records(id), {}));
      expect(await valuesOf(id, 'fresh')).toEqual([value, null]);
    },
  );

  it('are not filled in unless that is asked for', async () => {
    await own.define('unfilled', [title]);
    await own.make(own.records('unfilled'), {});
    expectOk(await patch('unfilled', [title, { name: 'n', kind: 'number', default: 1 }]));
    expect(await valuesOf('unfilled', 'n')).toEqual([null]);
    // The field is not new any more, and not required.
    expectOk(await patch('unfilled', [title, { name: 'n', kind: 'number', default: 2 }], '?fill=default'));
    expect(await valuesOf('unfilled', 'n')).toEqual([null]);
    expect((await patch('unfilled', [title], '?fill=all')).body.message).toContain('fill');
  });

  it('that are relations lead to a record, or nothing has changed', async () => {
    await own.define('targets', [title]);
    await own.define('pointing', [title]);
    await own.make(own.records('pointing'), {});
    const target = await own.make(own.records('targets'), {});
    const to = (id: string) => [title, { name: 'to', kind: 'relation', target: 'targets', default: id }];
    const nowhere = to('00000000-0000-7000-8000-000000000000');
    const refused = await patch('pointing', nowhere, '?fill=default');
    expect([refused.status, refused.body.errors]).toEqual([400, [{
      path: 'schema.fields.to.default',
      code: 'not_found',
      message: 'there is nothing with this id to fill in',
    }]]);
    expect(await fieldsOf('pointing')).toEqual([title]);
    expectOk(await patch('pointing', to(target), '?fill=default'));
    expect(await valuesOf('pointing', 'to')).toEqual([target]);
  });

  it('that are filled in leave updated_at alone, and are seen at once by readers who had the record', async () => {
    const app = await scenario();
    const notes = await watched(app, { list: 'any', get: 'any' }, [title]);
    const client = await notes.watch();
    const { id, updated_at } = await notes.create({});
    const read = () => app.admin.get(`${notes.records}/${id}`);
    for (let n = 0; n < 3; n++) expect((await read()).body.fields).toEqual({ title: null });
    const schema = { fields: [{ ...title, required: true, default: 'x' }] };
    expectOk(await app.admin.patch(`${app.collections}/${notes.name}?fill=default`, { schema }));
    expect((await read()).body).toMatchObject({ fields: { title: 'x' }, updated_at });
    await notes.create({ title: 'last' });
    await client.until(({ events }) => events.length >= 2);
    expect(client.events.map(({ event }) => event)).toEqual(['record_created', 'record_created']);
    client.socket.destroy();
  });
});

describe('a required field', () => {
  it.each([
    ['that is new', { name: 'n', kind: 'number' }, 2],
    ['that some records lack', title, 1],
  ])('%s is refused with the number of records, or is filled in', async (name, field, records) => {
    const id = `required_${name.replaceAll(' ', '_')}`;
    await own.define(id, [title]);
    for (const value of ['a', null]) await own.make(own.records(id), { title: value });
    const others = field === title ? [] : [title];
    const reason = (hint: string) =>
      `cannot be required, because ${
        records === 1 ? '1 record has' : '2 records have'
      } no value; to fill it in, ${hint}`;
    const required = { ...field, required: true };
    const refused = await patch(id, [...others, required], '?fill=default');
    expect([refused.status, refused.body.code, refused.body.errors]).toEqual([409, 'conflict', [{
      path: `schema.fields.${field.name}.required`,
      code: 'invalid',
      message: reason('give it a default, and add ?fill=default'),
    }]]);
    const withDefault = { ...required, default: field === title ? 'filled' : 7 };
    const hinted = await patch(id, [...others, withDefault]);
    expect(hinted.body.message).toBe(`schema.fields.${field.name}.required: ${reason('add ?fill=default')}`);
    expect(await fieldsOf(id)).toEqual([title]);
    expectOk(await patch(id, [...others, withDefault], '?fill=default'));
    expect(await valuesOf(id, field.name)).toEqual(field === title ? ['a', 'filled'] : [7, 7]);
  });

  it('is taken when no record lacks it, and stays when it was required before', async () => {
    await own.define('complete', [title]);
    const required = { ...title, required: true };
    expectOk(await patch('complete', [required, { name: 'n', kind: 'number', required: true }]));
    await own.make(own.records('complete'), { title: 'a', n: 1 });
    expectOk(
      await patch('complete', [{ ...required, max: 5 }, { name: 'n', kind: 'number', required: true }]),
    );
    expectOk(await patch('complete', [title, { name: 'n', kind: 'number' }]));
    expectOk(await patch('complete', [required, { name: 'm', kind: 'number', was: 'n', required: true }]));
  });
});

describe('an option', () => {
  const status = { name: 'status', kind: 'select', options: ['open', 'done', 'it\'s "late"'] };

  it('that records have is not removed, and the error says how many there are', async () => {
    await own.define('options', [status]);
    for (const value of ['open', 'done', 'done', 'it\'s "late"', null]) {
      await own.make(own.records('options'), { status: value });
    }
    const refused = await patch('options', [{ ...status, options: ['open', 'new'] }]);
    expect([refused.status, refused.body.errors]).toEqual([409, [{
      path: 'schema.fields.status.options',
      code: 'invalid',
      message: '3 records have "done", "it\'s \\"late\\"", which is removed',
    }]]);
    const renamed = { ...status, name: 'state', was: 'status', options: ['open', 'done'] };
    expect((await patch('options', [renamed])).body.message).toBe(
      'schema.fields.state.options: 1 record has "it\'s \\"late\\"", which is removed',
    );
    expect(await fieldsOf('options')).toEqual([status]);
    const { items } = expectOk(await own.admin.get(own.records('options')));
    for (const { id, fields } of items) {
      if (fields.status === 'done') {
        expectOk(await own.admin.patch(`${own.records('options')}/${id}`, { status: 'open' }));
      }
    }
    expectOk(await patch('options', [{ ...status, options: ['it\'s "late"', 'open', 'new'] }]));
  });
});
