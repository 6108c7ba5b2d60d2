// Aggregates of records: functions, groups, errors.
import { beforeAll, describe, expect, it } from 'vitest';
import { as, type Caller, expectOk } from '../../harness/api.ts';
import { type Scenario, scenario } from '../../harness/scenario.ts';

let made: Scenario;
let admin: Caller;
let orders: string;

const fields = [
  { name: 'status', kind: 'select', options: ['open', 'paid'] },
  { name: 'total', kind: 'number' },
  { name: 'due', kind: 'datetime' },
  { name: 'note', kind: 'text' },
  { name: 'urgent', kind: 'bool' },
  { name: 'meta', kind: 'json' },
  { name: 'parent', kind: 'relation', target: 'orders' },
];

const stored = [
  { status: 'open', total: 0.1, due: '2026-03-01T00:00:00.007Z', note: 'b', urgent: true, meta: [1] },
  { status: 'open', total: 0.2, due: '0099-03-01T00:00:00Z', note: 'é' },
  { status: 'paid', total: -7, note: 'B', urgent: false },
  { total: 1e21 },
  {},
];

beforeAll(async () => {
  made = await scenario({ collections: { orders: fields } });
  ({ admin } = made);
  orders = made.records('orders');
  for (const values of stored) await made.make(orders, values);
});

const ask = (query: string, caller = admin, records = orders) =>
  caller.get(`${records}/aggregate?${query.replaceAll('+', '%2B')}`);
const itemsOf = async (query: string, caller = admin, records = orders) =>
  expectOk(await ask(query, caller, records)).items;

describe('functions', () => {
  it('count, add up, average, and find the least and the greatest of all records', async () => {
    expect(await itemsOf('fn=count,sum(total),avg(total),min(total),max(total)')).toEqual([
      {
        group: {},
        count: 5,
        'sum(total)': 1e21 - 7 + 0.3,
        'avg(total)': 2.5e20,
        'min(total)': -7,
        'max(total)': 1e21,
      },
    ]);
  });

  it('find the first and last time and text, as records show them', async () => {
    const [{ created_at }] = expectOk(await admin.get(`${orders}?per_page=1`)).items;
    expect(await itemsOf('fn=min(due),max(due),min(note),max(note),min(status),min(created_at)')).toEqual([{
      group: {},
      'min(due)': '0099-03-01T00:00:00.000Z',
      'max(due)': '2026-03-01T00:00:00.007Z',
      'min(note)': 'B',
      'max(note)': 'é',
      'min(status)': 'open',
      'min(created_at)': created_at,
    }]);
  });

  it('add decimals without the noise of doubles', async () => {
    expect(await itemsOf("fn=sum(total),avg(total)&filter=status='open'")).toEqual([
      { group: {}, 'sum(total)': 0.3, 'avg(total)': 0.15 },
    ]);
  });

  it('are null where no record has a value, and count none as 0', async () => {
    const nothing = encodeURIComponent("note = 'nope'");
    expect(await itemsOf(`fn=count,sum(total),avg(total),max(due)&filter=${nothing}`)).toEqual([
      { group: {}, count: 0, 'sum(total)': null, 'avg(total)': null, 'max(due)': null },
    ]);
    expect(await itemsOf(`fn=count&group=status&filter=${nothing}`)).toEqual([]);
  });

  it('may be written with spaces, and twice', async () => {
    expect(await itemsOf('fn= count , max( total ),count')).toEqual([{
      group: {},
      count: 5,
      'max(total)': 1e21,
    }]);
  });
});

describe('groups', () => {
  it('are the records with equal values, in the order of these, those without a value last', async () => {
    expect(await itemsOf('fn=count,sum(total)&group=status')).toEqual([
      { group: { status: 'open' }, count: 2, 'sum(total)': 0.3 },
      { group: { status: 'paid' }, count: 1, 'sum(total)': -7 },
      { group: { status: null }, count: 2, 'sum(total)': 1e21 },
    ]);
  });

  it('may be of several fields of any kind but JSON', async () => {
    const items = await itemsOf('fn=count&group=urgent,due,parent,total,urgent');
    expect(items).toHaveLength(5);
    expect(items[0]).toEqual({ group: { urgent: false, due: null, parent: null, total: -7 }, count: 1 });
    expect(items[1].group.due).toBe('2026-03-01T00:00:00.007Z');
    expect(await itemsOf('fn=count&group=id')).toHaveLength(5);
    expect(await itemsOf('fn=min(due)&group=due')).toContainEqual({
      group: { due: '0099-03-01T00:00:00.000Z' },
      'min(due)': '0099-03-01T00:00:00.000Z',
    });
  });

  it('are at most 1,000', async () => {
    const { app } = made;
    const many = await made.define('many', [{ name: 'n', kind: 'number' }]);
    for (let made = 0; made < 1_001; made += 91) {
      const requests = Array.from(
        { length: 91 },
        (_, n) => ({ method: 'POST', collection: 'many', body: { n: made + n } }),
      );
      expectOk(await admin.post(`${app.path}/batch`, { requests }));
    }
    expect(expectOk(await ask('fn=count&group=n&filter=n<1000', admin, many)).items).toHaveLength(1_000);
    const refused = await ask('fn=count&group=n', admin, many);
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation', errors: [{ path: 'group' }] } });
    expect(refused.body.message).toMatch(/^group: makes more than 1000 groups/);
  });
});

describe('an error names the parameter', () => {
  it.each([
    ['', 'validation', 'fn', 'is required'],
    ['fn=', 'validation', 'fn', 'must name a function, such as count or sum(total)'],
    [
      'fn=median(total)',
      'validation',
      'fn',
      '"median(total)" is none of count, sum(<field>), avg(<field>), ',
    ],
    ['fn=count(total)', 'validation', 'fn', '"count(total)" is none of'],
    ['fn=sum', 'validation', 'fn', '"sum" is none of'],
    ['fn=sum(total', 'validation', 'fn', '"sum(total" is none of'],
    ['fn=toString', 'validation', 'fn', '"toString" is none of'],
    ['fn=sum(note)', 'validation', 'fn', 'sum takes numbers, and "note" has none'],
    ['fn=max(urgent)', 'validation', 'fn', 'max takes numbers, times, texts, and "urgent" has none'],
    ['fn=max(id)', 'validation', 'fn', 'max takes numbers, times, texts, and "id" has none'],
    ['fn=max(meta)', 'validation', 'fn', 'max takes numbers, times, texts, and "meta" has none'],
    ['fn=sum(nope)', 'unknown_column', 'fn', '"orders" has no field "nope"'],
    ['fn=sum(xmin)', 'unknown_column', 'fn', '"orders" has no field "xmin"'],
    ['fn=count&group=nope', 'unknown_column', 'group', '"orders" has no field "nope"'],
    ['fn=count&group=parent.status', 'unknown_column', 'group', '"orders" has no field "parent.status"'],
    ['fn=count&group=meta', 'validation', 'group', 'the values of "meta" are JSON, which makes no groups'],
    ['fn=count&filter=nope=1', 'unknown_column', 'filter', 'unknown column "nope" (at character 1)'],
    ['fn=count&filter=(', 'parse_error', 'filter', ''],
  ])('%s', async (query, code, path, reason) => {
    const { status, body } = await ask(query);
    expect({ status, code: body.code, paths: body.errors.map((error: { path: string }) => error.path) })
      .toEqual({ status: 400, code, paths: [path] });
    expect(body.message.startsWith(`${path}: ${reason}`), body.message).toBe(true);
  });

  it('also when there is too much of it', async () => {
    const wide = await made.define(
      'wide',
      Array.from({ length: 21 }, (_, n) => ({ name: `n${n}`, kind: 'number' })),
    );
    const names = Array.from({ length: 21 }, (_, n) => `n${n}`);
    const functions = await ask(`fn=${names.map((name) => `sum(${name})`)}`, admin, wide);
    expect(functions.body).toMatchObject({ message: 'fn: must have at most 20 functions' });
    const groups = await ask(`fn=count&group=${names.slice(0, 11)}`, admin, wide);
    expect(groups.body).toMatchObject({ message: 'group: must have at most 10 fields' });
  });

  it('also when a sum is no number', async () => {
    const huge = await made.define('huge', [{ name: 'n', kind: 'number' }]);
    for (const n of [1.7e308, 1.7e308, 5e-324]) await made.make(huge, { n });
    expect(await itemsOf('fn=avg(n),min(n)', admin, huge)).toEqual([
      { group: {}, 'avg(n)': 1.1333333333333333e308, 'min(n)': 5e-324 },
    ]);
    expect((await ask('fn=sum(n)', admin, huge)).body).toEqual({
      code: 'validation',
      message: 'fn: a result is greater than a number can be; use a filter',
      errors: [{
        path: 'fn',
        code: 'invalid',
        message: 'a result is greater than a number can be; use a filter',
      }],
    });
  });

  it('and the path has no other method', async () => {
    const response = await admin.post(`${orders}/aggregate`, {});
    expect([response.status, response.headers.get('Allow')]).toEqual([405, 'GET, HEAD']);
  });
});

it('hooks count and aggregate all records of the app', async () => {
  const source = `routerAdd('GET', '/report', async () => {
    const refused = (query) => $app.records.aggregate('orders', query).catch(({ code, errors }) => [code, errors[0].path]);
    return [
      await $app.records.count('orders'),
      await $app.records.count('orders', { filter: "status = 'open'" }),
      await $app.records.aggregate('orders', { fn: 'count,max(due)', group: 'status', filter: 'total < 1' }),
      await refused({ fn: 'nope' }),
      await refused({ fn: 'count', group: 'nope' }),
      await $app.records.count('orders', { sort: 'x' }).catch((error) => error.message),
      await $app.records.aggregate('orders').catch((error) => error.message),
    ];
  });`;
  expectOk(await admin.put(`${made.app.path}/hooks/report.ts`, { source }));
  expect(expectOk(await as().get(`${made.app.path}/custom/report`))).toEqual([
    5,
    2,
    {
      items: [
        { group: { status: 'open' }, count: 2, 'max(due)': '2026-03-01T00:00:00.007Z' },
        { group: { status: 'paid' }, count: 1, 'max(due)': null },
      ],
    },
    ['validation', 'fn'],
    ['unknown_column', 'group'],
    'records.count: the query: sort is none of filter',
    'records.aggregate: the query must be an object',
  ]);
});
