// Every operator on the same pairs of values, in SQL and in memory, from every place a value can come from.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScalarType } from '../../../../../storage/app/filter/condition.ts';
import { type FilteredTables, requestOf } from '../fixture.ts';
import {
  expectKeys,
  jsonTypes,
  keysWhere,
  makePairs,
  orders,
  quoted,
  says,
  types,
  values,
} from '../pairs.ts';

let tables: FilteredTables;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ tables, drop } = await makePairs());
});

afterAll(() => drop());

async function expectBoth(
  filter: string,
  type: ScalarType,
  keys: readonly string[],
  request = requestOf(),
): Promise<void> {
  await expectKeys(tables, { filter, type, keys, request });
}

describe.each(types)('operators on %s', (type) => {
  const where = (test: (left: number, right: number) => boolean) => keysWhere(type, test);

  it.each(orders)('%s compares two columns', async (operator) => {
    const passing = where((left, right) => says(operator, left, right));
    const failing = where((left, right) => !says(operator, left, right));
    await expectBoth(`l_${type} ${operator} r_${type}`, type, passing);
    await expectBoth(`!(l_${type} ${operator} r_${type})`, type, failing);
    await expectBoth(`same.l_${type} ${operator} r_${type}`, type, passing);
    await expectBoth(`!(same.same.l_${type} ${operator} r_${type})`, type, failing);
    await expectBoth(`same.l_${type} ${operator} same.same.r_${type}`, type, passing);
    await expectBoth(`!(same.l_${type} ${operator} same.r_${type})`, type, failing);
  });

  it.each(orders)('%s compares a column with values from elsewhere', async (operator) => {
    for (const [at, value] of values[type].entries()) {
      const withRight = where((left) => says(operator, left, at));
      const withLeft = where((_, right) => says(operator, at, right));
      if (at > 0) {
        await expectBoth(`l_${type} ${operator} ${quoted(value)}`, type, withRight);
        await expectBoth(`${quoted(value)} ${operator} r_${type}`, type, withLeft);
        await expectBoth(
          `!(same.l_${type} ${operator} ${quoted(value)})`,
          type,
          where((left) => !says(operator, left, at)),
        );
        const request = requestOf({ query: { v: String(value) } });
        await expectBoth(`l_${type} ${operator} @request.query.v`, type, withRight, request);
      }
      const request = requestOf({ body: { v: value } });
      await expectBoth(`l_${type} ${operator} @request.body.v`, type, withRight, request);
      await expectBoth(`@request.body.v ${operator} r_${type}`, type, withLeft, request);
      await expectBoth(`same.l_${type} ${operator} @request.body.v`, type, withRight, request);
    }
  });

  it('= null and != null test whether there is a value', async () => {
    const empty = where((left) => left === 0);
    const filled = where((left) => left !== 0);
    for (const name of [`l_${type}`, `same.l_${type}`, 'json.l', 'same.json.l']) {
      await expectBoth(`${name} = null`, type, empty);
      await expectBoth(`null != ${name}`, type, filled);
      await expectBoth(`!(${name} = null)`, type, filled);
      await expectBoth(`!(${name} != null)`, type, empty);
      await expectBoth(`${name} in [null]`, type, empty);
    }
  });

  it('in is equal to one of several', async () => {
    const list = values[type].slice(1, 3).map(quoted).join(', ');
    const among = (left: number) => left === 1 || left === 2;
    await expectBoth(`l_${type} in [${list}]`, type, where(among));
    await expectBoth(`!(l_${type} in [${list}])`, type, where((left) => !among(left)));
    await expectBoth(`l_${type} in [${list}, null]`, type, where((left) => among(left) || left === 0));
    await expectBoth(`l_${type} in []`, type, []);
    await expectBoth(`!(l_${type} in [])`, type, where(() => true));
  });
});

describe.each(jsonTypes)('operators on JSON that holds %s', (type) => {
  const where = (test: (left: number, right: number) => boolean) => keysWhere(type, test);

  it.each(orders)('%s compares it with JSON, columns and values', async (operator) => {
    const passing = where((left, right) => says(operator, left, right));
    const failing = where((left, right) => !says(operator, left, right));
    for (
      const [left, right] of [['json.l', 'json.r.0'], ['json.l', `r_${type}`], [`l_${type}`, 'json.r.0'], [
        'same.json.l',
        'json.r.0',
      ]]
    ) {
      await expectBoth(`${left} ${operator} ${right}`, type, passing);
      await expectBoth(`!(${left} ${operator} ${right})`, type, failing);
    }
    for (const [at, value] of values[type].entries()) {
      const request = requestOf({ body: { v: value } });
      const withRight = where((left) => says(operator, left, at));
      if (at > 0) await expectBoth(`json.l ${operator} ${quoted(value)}`, type, withRight);
      await expectBoth(`json.l ${operator} @request.body.v`, type, withRight, request);
    }
  });
});

it('JSON has its own members only, in SQL and here', async () => {
  await tables.insert('pairs', {
    key: 'members',
    json: { list: ['a'], text: 'abc', own: { constructor: 'c', '0': 'zero' } },
  });
  const present = ['json.list.0', 'json.list.00', 'json.own.constructor', 'json.own.0'];
  const absent = [
    'json.constructor',
    'json.toString',
    'json.list.length',
    'json.list.constructor',
    'json.text.length',
    'json.text.0',
    'json.own.00',
    'json.list.99999999999',
    'json.list.0x0',
    'json.list.0e0',
    'json.__proto__',
    'json.own.__proto__.x',
  ];
  for (const [paths, operator] of [[present, '!='], [absent, '=']] as const) {
    for (const path of paths) {
      const found = await tables.select(`key = 'members' && ${path} ${operator} null`, {
        collection: 'pairs',
      });
      expect(found, path).toEqual({ sql: ['members'], memory: ['members'] });
    }
  }
});
