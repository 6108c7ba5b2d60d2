// Every operator on the same pairs of values, in SQL and in memory, from every place a value can come from.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Field } from '../../../storage/definition.ts';
import type { ScalarType } from '../../../storage/filter/condition.ts';
import { operators } from '../../../storage/filter/operators.ts';
import type { Operator } from '../../../storage/filter/tree.ts';
import { type FilteredTables, makeTables, requestOf } from './fixture.ts';

const names = Object.keys(operators) as Operator[];
const orders = names.filter((name) => !operators[name].pattern);
const patterns = names.filter((name) => operators[name].pattern);

/** Values of each type, null first, then in their order: what an operator says of two of them follows from where they stand. */
const values: Record<ScalarType, readonly unknown[]> = {
  // Code points, not UTF-16 units: U+FFFD is below U+1F600, though D83D is below FFFD. And no locale: Z is below a, é above z.
  text: [
    null,
    '',
    ' ',
    '10',
    '9',
    'A',
    'Z',
    'a',
    'aa',
    'b',
    'É',
    'é',
    'İ',
    'ı',
    '퟿',
    '\uE000',
    '\uFFFD',
    '😀',
    '😀a',
    '\u{10FFFF}',
  ],
  number: [null, -1e308, -1, -5e-324, 0, 5e-324, 0.1, 0.30000000000000004, 1, 9007199254740991, 1e308],
  boolean: [null, false, true],
  datetime: [
    null,
    '0001-01-01T00:00:00.000Z',
    '1969-12-31T23:59:59.999Z',
    '2026-01-02T03:04:05.678Z',
    '2026-01-02T03:04:05.679Z',
    '9999-12-31T23:59:59.999Z',
  ],
  uuid: [
    null,
    '00000000-0000-0000-0000-000000000000',
    '019b1f2e-0000-7000-8000-000000000000',
    '019b1f2e-0000-7000-8000-00000000000a',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ],
};

const kinds = {
  text: 'text',
  number: 'number',
  boolean: 'bool',
  datetime: 'datetime',
  uuid: 'file',
} as const;
const types = Object.keys(values) as ScalarType[];
const jsonTypes = ['text', 'number', 'boolean'] as const;

const pairs: readonly Field[] = [
  { name: 'key', kind: 'text' },
  ...types.flatMap((type): Field[] => [
    { name: `l_${type}`, kind: kinds[type] },
    { name: `r_${type}`, kind: kinds[type] },
  ]),
  { name: 'json', kind: 'json' },
  { name: 'same', kind: 'relation', target: 'pairs' },
];

let tables: FilteredTables;
let drop: () => Promise<void>;

/** The rows of a type: one for each ordered pair, with its key. */
function pairsOf(type: ScalarType): { key: string; left: number; right: number }[] {
  const list = values[type];
  return list.flatMap((_, left) =>
    list.map((_, right) => ({ key: `${type} ${left} ${right}`, left, right }))
  );
}

beforeAll(async () => {
  ({ tables, drop } = await makeTables({ pairs }));
  for (const type of types) {
    for (const { key, left, right } of pairsOf(type)) {
      const [l, r] = [values[type][left], values[type][right]];
      const same = crypto.randomUUID();
      await tables.insert(
        'pairs',
        { key, [`l_${type}`]: l, [`r_${type}`]: r, json: { l, r: [r] }, same },
        same,
      );
    }
  }
});

afterAll(() => drop());

const meanings: Record<Exclude<Operator, '~' | '!~'>, (left: number, right: number) => boolean> = {
  '=': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
};

/** What decisions say: a side without a value is unlike everything. */
function says(operator: Operator, left: number, right: number): boolean {
  if (operator === '~' || operator === '!~') throw new Error('not an order');
  return left === 0 || right === 0 ? operator === '!=' : meanings[operator](left, right);
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

/** Asks of the rows of a type only; the others would pass where nothing is required. */
async function expectBoth(
  filter: string,
  type: ScalarType,
  keys: readonly string[],
  request = requestOf(),
): Promise<void> {
  const selected = await tables.select(`key ~ '${type} %' && ${filter}`, { request, collection: 'pairs' });
  expect(selected, filter).toEqual({ sql: [...keys].sort(), memory: [...keys].sort() });
}

describe.each(types)('operators on %s', (type) => {
  const all = pairsOf(type);
  const keysWhere = (test: (left: number, right: number) => boolean) =>
    all.filter(({ left, right }) => test(left, right)).map(({ key }) => key);

  it.each(orders)('%s compares two columns', async (operator) => {
    const passing = keysWhere((left, right) => says(operator, left, right));
    const failing = keysWhere((left, right) => !says(operator, left, right));
    await expectBoth(`l_${type} ${operator} r_${type}`, type, passing);
    await expectBoth(`!(l_${type} ${operator} r_${type})`, type, failing);
    await expectBoth(`same.l_${type} ${operator} r_${type}`, type, passing);
    await expectBoth(`!(same.same.l_${type} ${operator} r_${type})`, type, failing);
    await expectBoth(`same.l_${type} ${operator} same.same.r_${type}`, type, passing);
    await expectBoth(`!(same.l_${type} ${operator} same.r_${type})`, type, failing);
  });

  it.each(orders)('%s compares a column with values from elsewhere', async (operator) => {
    for (const [at, value] of values[type].entries()) {
      const withRight = keysWhere((left) => says(operator, left, at));
      const withLeft = keysWhere((_, right) => says(operator, at, right));
      if (at > 0) {
        await expectBoth(`l_${type} ${operator} ${quoted(value)}`, type, withRight);
        await expectBoth(`${quoted(value)} ${operator} r_${type}`, type, withLeft);
        await expectBoth(
          `!(same.l_${type} ${operator} ${quoted(value)})`,
          type,
          keysWhere((left) => !says(operator, left, at)),
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

  it('= null and != null ask whether there is a value', async () => {
    const empty = keysWhere((left) => left === 0);
    const filled = keysWhere((left) => left !== 0);
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
    await expectBoth(`l_${type} in [${list}]`, type, keysWhere(among));
    await expectBoth(`!(l_${type} in [${list}])`, type, keysWhere((left) => !among(left)));
    await expectBoth(`l_${type} in [${list}, null]`, type, keysWhere((left) => among(left) || left === 0));
    await expectBoth(`l_${type} in []`, type, []);
    await expectBoth(`!(l_${type} in [])`, type, keysWhere(() => true));
  });
});

describe.each(jsonTypes)('operators on JSON that holds %s', (type) => {
  const all = pairsOf(type);
  const keysWhere = (test: (left: number, right: number) => boolean) =>
    all.filter(({ left, right }) => test(left, right)).map(({ key }) => key);

  it.each(orders)('%s compares it with JSON, columns and values', async (operator) => {
    const passing = keysWhere((left, right) => says(operator, left, right));
    const failing = keysWhere((left, right) => !says(operator, left, right));
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
      const withRight = keysWhere((left) => says(operator, left, at));
      if (at > 0) await expectBoth(`json.l ${operator} ${quoted(value)}`, type, withRight);
      await expectBoth(`json.l ${operator} @request.body.v`, type, withRight, request);
    }
  });
});

describe('patterns', () => {
  const cases: readonly (readonly [text: string | null, pattern: string, matches: boolean])[] = [
    ['banana', 'NAN', true],
    ['banana', '', true],
    ['', '', true],
    ['banana', 'ban%', true],
    ['banana', 'nan%', false],
    ['banana', '%a', true],
    ['banana', 'b%n%n%a', true],
    ['banana', 'b%n%n%n%a', false],
    ['aba', 'ab%ba', false],
    ['é', 'É', true],
    ['ΟΔΟΣ', 'οδος', true],
    ['null', 'x', false],
    [null, '', false],
    [null, '%', false],
  ];
  const key = (index: number) => `pattern ${index}`;

  beforeAll(async () => {
    for (const [index, [text, pattern]] of cases.entries()) {
      const same = crypto.randomUUID();
      const fields = {
        key: key(index),
        l_text: text,
        r_text: pattern,
        json: { l: text, r: [pattern] },
        same,
      };
      await tables.insert('pairs', fields, same);
    }
  });

  it.each(patterns)('%s matches columns, JSON, literals and values of the request', async (operator) => {
    const holds = (index: number) => (cases[index]?.[2] === true) === (operator === '~');
    const passing = cases.map((_, index) => key(index)).filter((_, index) => holds(index)).sort();
    const failing = cases.map((_, index) => key(index)).filter((_, index) => !holds(index)).sort();
    for (const left of ['l_text', 'json.l', 'same.l_text', 'same.json.l']) {
      for (const right of ['r_text', 'json.r.0']) {
        const options = { collection: 'pairs' };
        const wanted = `key ~ 'pattern %' && `;
        expect(await tables.select(`${wanted}${left} ${operator} ${right}`, options), left).toEqual({
          sql: passing,
          memory: passing,
        });
        expect(await tables.select(`${wanted}!(${left} ${operator} ${right})`, options), left)
          .toEqual({ sql: failing, memory: failing });
      }
      for (const [index, [, pattern]] of cases.entries()) {
        const request = requestOf({ body: { v: pattern }, query: { v: pattern } });
        const found = holds(index) ? [key(index)] : [];
        for (const right of [`'${pattern}'`, '@request.body.v', '@request.query.v']) {
          expect(
            await tables.select(`key = '${key(index)}' && ${left} ${operator} ${right}`, {
              request,
              collection: 'pairs',
            }),
          )
            .toEqual({ sql: found, memory: found });
        }
      }
    }
  });

  it.each(patterns)('%s takes a UUID for its text, and no other type for one', async (operator) => {
    const uuids = pairsOf('uuid').filter(({ left }) => ([2, 3].includes(left)) === (operator === '~')).map((
      { key },
    ) => key);
    await expectBoth(`l_uuid ${operator} '019B1F'`, 'uuid', uuids);
    for (const type of ['number', 'boolean', 'datetime'] as const) {
      const empty = operator === '!~'
        ? pairsOf(type).filter(({ left }) => left === 0).map(({ key }) => key)
        : [];
      await expectBoth(`l_${type} ${operator} ''`, type, empty);
      await expectBoth(
        `l_${type} ${operator} @request.query.q`,
        type,
        empty,
        requestOf({ query: { q: '' } }),
      );
    }
  });
});

describe('unlike types', () => {
  const other: Record<ScalarType, ScalarType> = {
    text: 'number',
    number: 'boolean',
    boolean: 'datetime',
    datetime: 'uuid',
    uuid: 'number',
  };

  it.each(types)('are never equal, unequal or ordered, but for what has no value: %s', async (type) => {
    const all = pairsOf(type).map(({ key }) => key);
    const empty = pairsOf(type).filter(({ left }) => left === 0).map(({ key }) => key);
    const body =
      { text: { v: 5 }, number: { v: '5' }, boolean: { v: 1 }, datetime: { v: 'x' }, uuid: { v: 5 } }[type];
    const request = requestOf({ body });
    for (const operator of orders) {
      // Rows of a type have nothing in the columns of the others.
      await expectBoth(`l_${type} ${operator} r_${other[type]}`, type, operator === '!=' ? all : []);
      await expectBoth(
        `l_${type} ${operator} @request.body.v`,
        type,
        operator === '!=' ? empty : [],
        request,
      );
    }
  });

  it('are never alike in JSON either, nor are arrays and objects like anything', async () => {
    await tables.insert('pairs', {
      key: 'mixed',
      l_number: 5,
      l_text: '5',
      l_boolean: true,
      json: { l: '5', r: [5], o: {}, a: [1] },
    });
    for (const operator of names) {
      const beside = operators[operator].pattern ? 'l_text' : 'l_number';
      for (
        const comparison of [
          `json.l ${operator} json.o`,
          `json.a ${operator} json.a`,
          `json ${operator} ${beside}`,
          `json.r.0 ${operator} l_text`,
          `json.r.0 ${operator} l_boolean`,
        ]
      ) {
        const found = await tables.select(`key = 'mixed' && ${comparison}`, { collection: 'pairs' });
        expect(found, comparison).toEqual({ sql: [], memory: [] });
      }
      for (
        const comparison of [
          `json.o ${operator} json.nothing`,
          `l_uuid ${operator} json.a`,
          `json.a.x ${operator} l_number`,
        ]
      ) {
        const keys = operators[operator].withoutValue ? ['mixed'] : [];
        const found = await tables.select(`key = 'mixed' && ${comparison}`, { collection: 'pairs' });
        expect(found, comparison).toEqual({ sql: keys, memory: keys });
      }
    }
  });

  it('but a UUID is like its text', async () => {
    const id = '019b1f2e-0000-7000-8000-00000000000a';
    await tables.insert('pairs', { key: 'uuid and text', l_uuid: id, r_text: id, json: { l: id } });
    for (
      const comparison of [
        'l_uuid = r_text',
        'r_text >= l_uuid',
        'json.l = l_uuid',
        '!(l_uuid != json.l)',
        'l_uuid ~ r_text',
      ]
    ) {
      const found = await tables.select(`key = 'uuid and text' && ${comparison}`, { collection: 'pairs' });
      expect(found, comparison).toEqual({ sql: ['uuid and text'], memory: ['uuid and text'] });
    }
  });
});
